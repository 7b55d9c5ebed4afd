import CRabbitMQ

/// Where every status of librabbitmq becomes an error or nothing.
extension Connection {
    func check(_ operation: String, _ status: Int32) throws(AMQPError) {
        guard status != AMQP_STATUS_OK.rawValue else { return }
        throw Self.failure(operation, status)
    }

    /// A broker that closes a channel is answered, and the channel is free; one that closes the connection ends it.
    func check(_ operation: String, _ reply: amqp_rpc_reply_t, channel: UInt16 = 0) throws(AMQPError) {
        switch unsafe reply.reply_type {
        case AMQP_RESPONSE_NORMAL: return
        case AMQP_RESPONSE_LIBRARY_EXCEPTION: throw Self.failure(operation, unsafe reply.library_error)
        case AMQP_RESPONSE_SERVER_EXCEPTION: throw unsafe serverClosed(reply.reply, channel, operation)
        default: throw AMQPError(.connection, operation, "the broker closed the connection")
        }
    }

    /// Answers `channel.close` or `connection.close` and returns it as an error.
    func serverClosed(_ method: amqp_method_t, _ channel: UInt16, _ operation: String) -> AMQPError {
        if unsafe method.id == isthmus_channel_close {
            let close = unsafe method.decoded.load(as: amqp_channel_close_t.self)
            let error = unsafe AMQPError(
                .channel, operation, code: Int(close.reply_code), String(copying: close.reply_text))
            var answer = amqp_channel_close_ok_t()
            _ = callGuard.call { unsafe amqp_send_method(state, channel, isthmus_channel_close_ok, &answer) }
            noteClosed(channel)
            return error
        }
        guard unsafe method.id == isthmus_connection_close else {
            return AMQPError(.connection, operation, unsafe "unexpected method \(method.id)")
        }
        let close = unsafe method.decoded.load(as: amqp_connection_close_t.self)
        let error = unsafe AMQPError(
            .connection, operation, code: Int(close.reply_code), String(copying: close.reply_text))
        var answer = amqp_connection_close_ok_t()
        _ = callGuard.call { unsafe amqp_send_method(state, 0, isthmus_connection_close_ok, &answer) }
        return error
    }

    static func failure(_ operation: String, _ status: Int32) -> AMQPError {
        let words = unsafe String(cString: amqp_error_string2(status))
        let kind: AMQPError.Kind = status == AMQP_STATUS_TIMEOUT.rawValue ? .timedOut : .connection
        return AMQPError(kind, operation, code: Int(status), words)
    }
}
