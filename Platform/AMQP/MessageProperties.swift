import CRabbitMQ
import Runtime

/// The properties and headers of a message, between ours and librabbitmq's form.
extension Arena {
    /// The properties of `message`, valid until the arena is recycled.
    @unsafe func properties(_ message: AMQPMessage) -> amqp_basic_properties_t {
        var properties = unsafe amqp_basic_properties_t()
        var flags = AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG
        unsafe properties.message_id = unsafe bytes(message.id)
        unsafe properties.content_type = unsafe bytes(message.contentType)
        unsafe properties.delivery_mode = UInt8(
            (message.persistent ? AMQP_DELIVERY_PERSISTENT : AMQP_DELIVERY_NONPERSISTENT).rawValue)
        if !message.type.isEmpty {
            flags |= AMQP_BASIC_TYPE_FLAG
            unsafe properties.type = unsafe bytes(message.type)
        }
        if message.timestamp != 0 {
            flags |= AMQP_BASIC_TIMESTAMP_FLAG
            unsafe properties.timestamp = UInt64(bitPattern: message.timestamp)
        }
        if let replyTo = message.replyTo {
            flags |= AMQP_BASIC_REPLY_TO_FLAG
            unsafe properties.reply_to = unsafe bytes(replyTo)
        }
        if let correlationID = message.correlationID {
            flags |= AMQP_BASIC_CORRELATION_ID_FLAG
            unsafe properties.correlation_id = unsafe bytes(correlationID)
        }
        if let expiration = message.expiration {
            flags |= AMQP_BASIC_EXPIRATION_FLAG
            unsafe properties.expiration = unsafe bytes("\(expiration.milliseconds)")
        }
        if !message.headers.isEmpty {
            flags |= AMQP_BASIC_HEADERS_FLAG
            unsafe properties.headers = unsafe table(message.headers)
        }
        unsafe properties._flags = amqp_flags_t(flags)
        return unsafe properties
    }

    @unsafe private func table(_ headers: [String: String]) -> amqp_table_t {
        let entries = unsafe allocate(amqp_table_entry_t.self, count: headers.count)
        for (index, header) in headers.enumerated() {
            var value = unsafe amqp_field_value_t()
            unsafe value.kind = UInt8(AMQP_FIELD_KIND_UTF8.rawValue)
            unsafe value.value.bytes = unsafe bytes(header.value)
            unsafe (entries + index).initialize(to: amqp_table_entry_t(key: bytes(header.key), value: value))
        }
        return unsafe amqp_table_t(num_entries: Int32(headers.count), entries: entries)
    }
}

/// What came in a content header frame, copied out of librabbitmq's memory.
struct ReceivedProperties {
    var message: AMQPMessage
    /// How often a quorum queue has handed the message out before.
    var deliveryCount = 0

    init(_ properties: amqp_basic_properties_t) {
        let flags = unsafe Int32(bitPattern: UInt32(truncatingIfNeeded: properties._flags))
        func text(_ flag: Int32, _ bytes: amqp_bytes_t) -> String? {
            flags & flag == 0 ? nil : unsafe String(copying: bytes)
        }
        message = unsafe AMQPMessage(
            id: text(AMQP_BASIC_MESSAGE_ID_FLAG, properties.message_id) ?? "",
            type: text(AMQP_BASIC_TYPE_FLAG, properties.type) ?? "",
            timestamp: flags & AMQP_BASIC_TIMESTAMP_FLAG == 0 ? 0 : Int64(bitPattern: properties.timestamp),
            contentType: text(AMQP_BASIC_CONTENT_TYPE_FLAG, properties.content_type) ?? "",
            replyTo: text(AMQP_BASIC_REPLY_TO_FLAG, properties.reply_to),
            correlationID: text(AMQP_BASIC_CORRELATION_ID_FLAG, properties.correlation_id),
            persistent: flags & AMQP_BASIC_DELIVERY_MODE_FLAG != 0
                && properties.delivery_mode == UInt8(AMQP_DELIVERY_PERSISTENT.rawValue),
            body: [])
        if let expiration = unsafe text(AMQP_BASIC_EXPIRATION_FLAG, properties.expiration), let wait = Int64(expiration)
        {
            message.expiration = .milliseconds(wait)
        }
        guard flags & AMQP_BASIC_HEADERS_FLAG != 0 else { return }
        for index in unsafe 0..<Int(max(0, properties.headers.num_entries)) {
            let entry = unsafe properties.headers.entries[index]
            guard let value = unsafe Self.text(entry.value) else { continue }
            message.headers[unsafe String(copying: entry.key)] = value
        }
        deliveryCount = message.headers.removeValue(forKey: "x-delivery-count").flatMap { Int($0) } ?? 0
    }

    /// The value as text; `nil` for tables, arrays and what has no text form.
    private static func text(_ field: amqp_field_value_t) -> String? {
        let kind = unsafe amqp_field_value_kind_t(UInt32(field.kind))
        let value = unsafe field.value
        return switch kind {
        case AMQP_FIELD_KIND_UTF8, AMQP_FIELD_KIND_BYTES: unsafe String(copying: value.bytes)
        case AMQP_FIELD_KIND_BOOLEAN: unsafe value.boolean != 0 ? "true" : "false"
        case AMQP_FIELD_KIND_I8: unsafe "\(value.i8)"
        case AMQP_FIELD_KIND_U8: unsafe "\(value.u8)"
        case AMQP_FIELD_KIND_I16: unsafe "\(value.i16)"
        case AMQP_FIELD_KIND_U16: unsafe "\(value.u16)"
        case AMQP_FIELD_KIND_I32: unsafe "\(value.i32)"
        case AMQP_FIELD_KIND_U32: unsafe "\(value.u32)"
        case AMQP_FIELD_KIND_I64: unsafe "\(value.i64)"
        case AMQP_FIELD_KIND_U64, AMQP_FIELD_KIND_TIMESTAMP: unsafe "\(value.u64)"
        case AMQP_FIELD_KIND_F32: unsafe "\(value.f32)"
        case AMQP_FIELD_KIND_F64: unsafe "\(value.f64)"
        default: nil
        }
    }
}

extension String {
    /// A copy of librabbitmq's bytes; what is not UTF-8 is repaired.
    init(copying bytes: amqp_bytes_t) {
        self = unsafe String(decoding: UnsafeRawBufferPointer(start: bytes.bytes, count: bytes.len), as: UTF8.self)
    }
}
