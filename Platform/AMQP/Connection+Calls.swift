import CRabbitMQ
import Shared

/// What we ask of the broker. Each call waits for its answer, within the call's time limit, if AMQP has one for it.
extension Connection {
    func openChannel() throws(AMQPError) -> UInt16 {
        let channel = try unusedChannel()
        noteOpened(channel)
        try ask("open a channel", channel) { unsafe amqp_channel_open(state, channel) != nil }
        return channel
    }

    /// Closes the channel: what is unacknowledged on it goes back to its queue, in order.
    func closeChannel(_ channel: UInt16) throws(AMQPError) {
        let reply = unsafe callGuard.call { unsafe amqp_channel_close(state, channel, AMQP_REPLY_SUCCESS) }
        noteClosed(channel)
        do {
            unsafe try check("close a channel", reply, channel: channel)
        } catch  where error.kind == .channel {
            // The broker closed it at the same moment, for a reason that is of no interest any more.
        }
    }

    func confirmSelect(_ channel: UInt16) throws(AMQPError) {
        try ask("ask for confirms", channel) { unsafe amqp_confirm_select(state, channel) != nil }
    }

    func setPrefetch(_ count: UInt16, _ channel: UInt16) throws(AMQPError) {
        try ask("set the prefetch", channel) { unsafe amqp_basic_qos(state, channel, 0, count, 0) != nil }
    }

    func consume(_ queue: String, noAck: Bool, _ channel: UInt16) throws(AMQPError) {
        arena.recycle()
        try ask("consume from \(queue)", channel) {
            unsafe amqp_basic_consume(
                state, channel, arena.bytes(queue), amqp_bytes_t(), 0, noAck ? 1 : 0, 0, amqp_table_t()) != nil
        }
    }

    /// Makes a queue of this connection alone, gone with it, that gets all that `exchange` gets.
    func declareExclusive(_ queue: String, boundTo exchange: String, _ channel: UInt16) throws(AMQPError) {
        arena.recycle()
        try ask("declare \(queue)", channel) {
            unsafe amqp_queue_declare(state, channel, arena.bytes(queue), 0, 0, 1, 1, amqp_table_t()) != nil
        }
        arena.recycle()
        try ask("bind \(queue) to \(exchange)", channel) {
            unsafe amqp_queue_bind(
                state, channel, arena.bytes(queue), arena.bytes(exchange), arena.bytes(""), amqp_table_t()) != nil
        }
    }

    /// Looks whether everything required is there; makes nothing.
    ///
    /// A passive declare needs no permission.
    func verify(_ requirements: [TopologyRequirement]) throws(AMQPError) {
        guard !requirements.isEmpty else { return }
        var channel = try openChannel()
        var missing: [String] = []
        for requirement in requirements {
            do {
                try declarePassively(requirement, channel)
            } catch  where error.kind == .channel && error.code == AMQP_NOT_FOUND {
                missing.append("\(requirement)")
                channel = try openChannel()
            }
        }
        try closeChannel(channel)
        guard missing.isEmpty else {
            let verb = missing.count == 1 ? "is" : "are"
            throw AMQPError(.misconfigured, "topology", "\(missing.joined(separator: ", ")) \(verb) missing")
        }
    }

    private func declarePassively(_ requirement: TopologyRequirement, _ channel: UInt16) throws(AMQPError) {
        arena.recycle()
        try ask("look for \(requirement)", channel) {
            switch requirement {
            case .exchange(let name):
                unsafe amqp_exchange_declare(
                    state, channel, arena.bytes(name), arena.bytes("direct"), 1, 0, 0, 0, amqp_table_t()) != nil
            case .queue(let name):
                unsafe amqp_queue_declare(state, channel, arena.bytes(name), 1, 0, 0, 0, amqp_table_t()) != nil
            }
        }
    }

    /// How many messages wait in the queue, those that consumers have in hand left out.
    func count(of queue: String) throws(AMQPError) -> Int {
        let channel = try openChannel()
        arena.recycle()
        var count = 0
        try ask("count \(queue)", channel) {
            guard
                let answer = unsafe amqp_queue_declare(state, channel, arena.bytes(queue), 1, 0, 0, 0, amqp_table_t())
            else { return false }
            count = unsafe Int(answer.pointee.message_count)
            return true
        }
        try closeChannel(channel)
        return count
    }

    /// Writes a mandatory message; only a confirm tells whether it arrived.
    func publish(
        _ message: AMQPMessage, exchange: String, routingKey: String, _ channel: UInt16
    ) throws(AMQPError) {
        arena.recycle()
        var properties = unsafe arena.properties(message)
        let status = callGuard.call {
            unsafe message.body.withUnsafeBytes { body in
                unsafe amqp_basic_publish(
                    state, channel, arena.bytes(exchange), arena.bytes(routingKey), 1, 0, &properties,
                    amqp_bytes_t(len: body.count, bytes: UnsafeMutableRawPointer(mutating: body.baseAddress)))
            }
        }
        try check("publish", status)
    }

    func acknowledge(_ tag: UInt64, multiple: Bool, _ channel: UInt16) throws(AMQPError) {
        let status = callGuard.call { unsafe amqp_basic_ack(state, channel, tag, multiple ? 1 : 0) }
        try check("acknowledge", status)
    }

    /// Refuses a delivery for good: the queue dead-letters it.
    func reject(_ tag: UInt64, _ channel: UInt16) throws(AMQPError) {
        let status = callGuard.call { unsafe amqp_basic_reject(state, channel, tag, 0) }
        try check("reject", status)
    }

    private func ask(_ operation: String, _ channel: UInt16, _ call: () -> Bool) throws(AMQPError) {
        guard !callGuard.call(call) else { return }
        unsafe try check(operation, amqp_get_rpc_reply(state), channel: channel)
        throw AMQPError(.connection, operation, "no answer")
    }
}
