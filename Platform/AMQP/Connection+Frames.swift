import CRabbitMQ

/// A message of which the method frame came and the rest is on its way.
struct PartialContent {
    var content: BrokerEvent.Content
    let isReturn: Bool
    var missing = 0
}

/// What the broker says unasked.
extension Connection {
    /// The next thing the broker said, or `nil` if nothing is there.
    ///
    /// Never waits; keeps heartbeats going.
    func nextEvent() throws(AMQPError) -> BrokerEvent? {
        while true {
            var frame = unsafe amqp_frame_t()
            var noWait = timeval()
            let status = callGuard.call { unsafe amqp_simple_wait_frame_noblock(state, &frame, &noWait) }
            if status == AMQP_STATUS_TIMEOUT.rawValue { return nil }
            try check("listen to the broker", status)
            // All that is kept of the frame is copied by then.
            defer { unsafe amqp_maybe_release_buffers_on_channel(state, frame.channel) }
            if let event = unsafe try event(frame) { return event }
        }
    }

    private func event(_ frame: amqp_frame_t) throws(AMQPError) -> BrokerEvent? {
        let channel = unsafe frame.channel
        switch unsafe Int32(frame.frame_type) {
        case AMQP_FRAME_METHOD:
            return unsafe try event(frame.payload.method, channel)
        case AMQP_FRAME_HEADER:
            guard var partial = partial.removeValue(forKey: channel) else { return nil }
            let header = unsafe frame.payload.properties
            let received = unsafe ReceivedProperties(header.decoded.load(as: amqp_basic_properties_t.self))
            partial.content.message = received.message
            partial.content.deliveryCount = received.deliveryCount
            guard let size = unsafe Int(exactly: header.body_size) else {
                throw AMQPError(.connection, "listen to the broker", "impossible body size")
            }
            partial.missing = size
            partial.content.message.body.reserveCapacity(min(size, AMQPMessage.maxBody))
            return finishedOrKept(partial)
        case AMQP_FRAME_BODY:
            guard var partial = partial.removeValue(forKey: channel) else { return nil }
            let bytes = unsafe frame.payload.body_fragment
            unsafe partial.content.message.body.append(
                contentsOf: UnsafeRawBufferPointer(start: bytes.bytes, count: bytes.len))
            unsafe partial.missing -= bytes.len
            return finishedOrKept(partial)
        default:
            return nil
        }
    }

    private func finishedOrKept(_ partial: PartialContent) -> BrokerEvent? {
        guard partial.missing <= 0 else {
            self.partial[partial.content.channel] = partial
            return nil
        }
        return partial.isReturn ? .returned(partial.content) : .delivered(partial.content)
    }

    private func event(_ method: amqp_method_t, _ channel: UInt16) throws(AMQPError) -> BrokerEvent? {
        switch unsafe method.id {
        case isthmus_basic_ack:
            let ack = unsafe method.decoded.load(as: amqp_basic_ack_t.self)
            return .acknowledged(tag: ack.delivery_tag, multiple: ack.multiple != 0)
        case isthmus_basic_nack:
            let nack = unsafe method.decoded.load(as: amqp_basic_nack_t.self)
            return .refused(tag: nack.delivery_tag, multiple: nack.multiple != 0)
        case isthmus_basic_deliver:
            let deliver = unsafe method.decoded.load(as: amqp_basic_deliver_t.self)
            let content = unsafe BrokerEvent.Content(
                channel: channel, exchange: String(copying: deliver.exchange),
                routingKey: String(copying: deliver.routing_key), tag: deliver.delivery_tag,
                redelivered: deliver.redelivered != 0)
            partial[channel] = PartialContent(content: content, isReturn: false)
            return nil
        case isthmus_basic_return:
            let returned = unsafe method.decoded.load(as: amqp_basic_return_t.self)
            let content = unsafe BrokerEvent.Content(
                channel: channel, exchange: String(copying: returned.exchange),
                routingKey: String(copying: returned.routing_key))
            partial[channel] = PartialContent(content: content, isReturn: true)
            return nil
        case isthmus_basic_cancel:
            return .cancelled(channel: channel)
        case isthmus_connection_blocked:
            return unsafe .blocked(String(copying: method.decoded.load(as: amqp_connection_blocked_t.self).reason))
        case isthmus_connection_unblocked:
            return .unblocked
        case isthmus_channel_close:
            return unsafe .channelClosed(channel: channel, serverClosed(method, channel, "channel \(channel)"))
        case isthmus_connection_close:
            throw unsafe serverClosed(method, channel, "listen to the broker")
        default:
            return nil  // an answer to a question nobody waits for any more
        }
    }
}
