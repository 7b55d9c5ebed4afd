// Notices would go to standard error, which is kept for the log.
#pragma once
#include <libpq-fe.h>

static void isthmus_pq_drop_notice(void *context, const PGresult *notice) {
    (void)context;
    (void)notice;
}

static inline void isthmus_pq_drop_notices(PGconn *connection) {
    PQsetNoticeReceiver(connection, isthmus_pq_drop_notice, 0);
}

// PG_DIAG_SQLSTATE and its like are character constants, which Swift does not import.
static inline const char *isthmus_pq_sqlstate(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

static inline const char *isthmus_pq_primary_message(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}

static inline const char *isthmus_pq_severity(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
}
