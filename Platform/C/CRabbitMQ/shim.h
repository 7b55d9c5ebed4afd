// librabbitmq, and what Swift cannot import of it: a variadic function and the method numbers, which are casts.
#pragma once
#include <sys/time.h>

#include <amqp.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>

// The plain amqp_login announces neither consumer_cancel_notify nor connection.blocked: without the first a consumer
// whose queue is deleted waits for ever, without the second a memory alarm looks like a slow broker.
static inline amqp_rpc_reply_t isthmus_login(
    amqp_connection_state_t connection, const char *vhost, const char *user, const char *password, const char *name,
    int frame_max, int heartbeat) {
    const char *names[] = {
        "authentication_failure_close", "basic.nack", "connection.blocked", "consumer_cancel_notify",
        "publisher_confirms",
    };
    amqp_table_entry_t capabilities[5];
    for (int i = 0; i < 5; i++) {
        capabilities[i].key = amqp_cstring_bytes(names[i]);
        capabilities[i].value.kind = AMQP_FIELD_KIND_BOOLEAN;
        capabilities[i].value.value.boolean = 1;
    }
    amqp_table_entry_t entries[2];
    entries[0].key = amqp_cstring_bytes("capabilities");
    entries[0].value.kind = AMQP_FIELD_KIND_TABLE;
    entries[0].value.value.table.num_entries = 5;
    entries[0].value.value.table.entries = capabilities;
    entries[1].key = amqp_cstring_bytes("connection_name");
    entries[1].value.kind = AMQP_FIELD_KIND_UTF8;
    entries[1].value.value.bytes = amqp_cstring_bytes(name);
    amqp_table_t properties = {2, entries};
    return amqp_login_with_properties(
        connection, vhost, 0, frame_max, heartbeat, &properties, AMQP_SASL_METHOD_PLAIN, user, password);
}

static const amqp_method_number_t isthmus_connection_close = AMQP_CONNECTION_CLOSE_METHOD;
static const amqp_method_number_t isthmus_connection_close_ok = AMQP_CONNECTION_CLOSE_OK_METHOD;
static const amqp_method_number_t isthmus_connection_blocked = AMQP_CONNECTION_BLOCKED_METHOD;
static const amqp_method_number_t isthmus_connection_unblocked = AMQP_CONNECTION_UNBLOCKED_METHOD;
static const amqp_method_number_t isthmus_channel_close = AMQP_CHANNEL_CLOSE_METHOD;
static const amqp_method_number_t isthmus_channel_close_ok = AMQP_CHANNEL_CLOSE_OK_METHOD;
static const amqp_method_number_t isthmus_basic_ack = AMQP_BASIC_ACK_METHOD;
static const amqp_method_number_t isthmus_basic_nack = AMQP_BASIC_NACK_METHOD;
static const amqp_method_number_t isthmus_basic_return = AMQP_BASIC_RETURN_METHOD;
static const amqp_method_number_t isthmus_basic_deliver = AMQP_BASIC_DELIVER_METHOD;
static const amqp_method_number_t isthmus_basic_cancel = AMQP_BASIC_CANCEL_METHOD;
