import Foundation
import Runtime

/// Spans in OTLP's JSON encoding (`ExportTraceServiceRequest`): ids in hexadecimal, enumerations as numbers, 64-bit
/// numbers as text.
struct OTLPTraces {
    private let resource: String

    init(resource: [String: String]) {
        self.resource = Self.attributes(resource.mapValues { .text($0) })
    }

    func encode(_ spans: [FinishedSpan]) -> [UInt8] {
        var text = "{\"resourceSpans\":[{\"resource\":{\"attributes\":\(resource)},"
        text += "\"scopeSpans\":[{\"scope\":{\"name\":\"isthmus\"},\"spans\":["
        text += spans.map(Self.span).joined(separator: ",")
        return Array((text + "]}]}]}").utf8)
    }

    private static func span(_ span: FinishedSpan) -> String {
        var attributes = span.attributes
        var text = "{\"traceId\":\"\(span.context.traceID)\",\"spanId\":\"\(span.context.spanID)\""
        if let parent = span.parentID { text += ",\"parentSpanId\":\"\(parent)\"" }
        // Bit 0: sampled.
        text += ",\"flags\":1,\"name\":\(Log.quoted(span.name)),\"kind\":\(span.kind.rawValue)"
        text += ",\"startTimeUnixNano\":\"\(span.start.nanoseconds)\",\"endTimeUnixNano\":\"\(span.end.nanoseconds)\""
        if let error = span.error {
            attributes["error.type"] = .text(error)
            text += ",\"status\":{\"code\":2}"
        }
        return text + ",\"attributes\":\(Self.attributes(attributes))}"
    }

    private static func attributes(_ attributes: [String: SpanValue]) -> String {
        let entries = attributes.sorted { $0.key < $1.key }.map { name, value in
            switch value {
            case .text(let text): "{\"key\":\(Log.quoted(name)),\"value\":{\"stringValue\":\(Log.quoted(text))}}"
            case .integer(let number): "{\"key\":\(Log.quoted(name)),\"value\":{\"intValue\":\"\(number)\"}}"
            }
        }
        return "[\(entries.joined(separator: ","))]"
    }
}
