// What Swift cannot import from libmicrohttpd: variadic calls and flags that only exist as enumerators; and accept4.
#pragma once
#include <microhttpd.h>
#include <sys/socket.h>

struct isthmus_mhd_options {
    size_t connection_memory;
    unsigned connections;
    unsigned idle_seconds;
};

// MHD_ALLOW_SUSPEND_RESUME contains MHD_USE_ITC: without that channel a resumed connection never wakes.
static inline struct MHD_Daemon *isthmus_mhd_start(
    struct isthmus_mhd_options options, void *context, MHD_AccessHandlerCallback handler,
    void *(*begin)(void *, const char *, struct MHD_Connection *),
    size_t (*unescape)(void *, struct MHD_Connection *, char *), MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback connection) {
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME,
        0, NULL, NULL, handler, context,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, options.connection_memory,
        MHD_OPTION_CONNECTION_LIMIT, options.connections,
        MHD_OPTION_CONNECTION_TIMEOUT, options.idle_seconds,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_URI_LOG_CALLBACK, begin, context,
        MHD_OPTION_UNESCAPE_CALLBACK, unescape, context,
        MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_NOTIFY_CONNECTION, connection, context,
        MHD_OPTION_END);
}

static inline int isthmus_mhd_accept(int listener, struct sockaddr_storage *from, socklen_t *size) {
    *size = sizeof *from;
    return accept4(listener, (struct sockaddr *)from, size, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

// The connection is the library's from here on: it is closed if this fails.
static inline int isthmus_mhd_add(
    struct MHD_Daemon *daemon, int connection, const struct sockaddr_storage *from, socklen_t size) {
    return MHD_add_connection(daemon, connection, (const struct sockaddr *)from, size) == MHD_YES;
}

static inline int isthmus_mhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static inline void *isthmus_mhd_socket_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static inline size_t isthmus_mhd_header_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

// The body is copied, so the caller may free it when this returns.
static inline struct MHD_Response *isthmus_mhd_response(const void *body, size_t count) {
    return MHD_create_response_from_buffer(count, (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY);
}

static inline struct MHD_Response *isthmus_mhd_stream(
    size_t block, MHD_ContentReaderCallback reader, void *context, MHD_ContentReaderFreeCallback release) {
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, block, reader, context, release);
}

static const ssize_t isthmus_mhd_end_of_stream = MHD_CONTENT_READER_END_OF_STREAM;
static const ssize_t isthmus_mhd_end_with_error = MHD_CONTENT_READER_END_WITH_ERROR;
