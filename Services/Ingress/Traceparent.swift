import Crypto
import Runtime

/// W3C Trace Context: what joins the spans of one text across the services.
enum Traceparent {
    /// Continues Linq's trace where its id is one, or begins a new trace.
    static func make(traceID: String?) -> String {
        "00-\(valid(traceID) ?? RandomBytes.make(16).hexString)-\(RandomBytes.make(8).hexString)-01"
    }

    private static func valid(_ traceID: String?) -> String? {
        guard let traceID, traceID.utf8.count == 32, let bytes = [UInt8](hex: traceID),
            bytes.contains(where: { $0 != 0 })
        else { return nil }
        return traceID.lowercased()
    }
}
