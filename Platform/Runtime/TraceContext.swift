/// W3C Trace Context: which trace something belongs to, and which span caused it.
package struct TraceContext: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64
    private let span: UInt64
    /// Whether whoever made the span has recorded it, so that what it causes is worth recording, too.
    package let isSampled: Bool
    /// The `tracestate` header, which is carried on as it came.
    package let state: String?

    private init(_ high: UInt64, _ low: UInt64, _ span: UInt64, isSampled: Bool, state: String?) {
        self.high = high
        self.low = low
        self.span = span
        self.isSampled = isSampled
        self.state = state
    }

    /// Begins a trace: `traceID`, if it is one (32 hexadecimal digits, not all zero), or a new one.
    package init(traceID: String? = nil) {
        if let traceID = traceID?.lowercased(), traceID.utf8.count == 32,
            let high = Self.number(traceID.utf8.prefix(16)),
            let low = Self.number(traceID.utf8.dropFirst(16)), high | low != 0
        {
            self.init(high, low, Self.freshID(), isSampled: true, state: nil)
        } else {
            self.init(Self.freshID(), Self.freshID(), Self.freshID(), isSampled: true, state: nil)
        }
    }

    /// Reads a `traceparent` header; `nil` if it is none.
    ///
    /// A later version than 00 may have more at its end, which is not read.
    ///
    /// - Parameter state: The `tracestate` beside it; one that no header may have, or that is longer than anybody has
    ///   to carry on, is left.
    package init?(_ traceparent: String, state: String? = nil) {
        let text = traceparent.utf8
        let dash = UInt8(ascii: "-")
        guard text.count >= 55, let version = Self.number(text.prefix(2)), version != 0xff,
            version == 0 ? text.count == 55 : text.count == 55 || text.dropFirst(55).first == dash,
            [2, 35, 52].allSatisfy({ text.dropFirst($0).first == dash }),
            let high = Self.number(text.dropFirst(3).prefix(16)),
            let low = Self.number(text.dropFirst(19).prefix(16)), high | low != 0,
            let span = Self.number(text.dropFirst(36).prefix(16)), span != 0,
            let flags = Self.number(text.dropFirst(53).prefix(2))
        else { return nil }
        self.init(high, low, span, isSampled: flags & 1 == 1, state: state.flatMap { Self.isCarried($0) ? $0 : nil })
    }

    /// Printable ASCII, and 512 bytes at the most (Trace Context, section 3.3.1.5).
    private static func isCarried(_ state: String) -> Bool {
        (1...512).contains(state.utf8.count) && state.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// The header's value.
    package var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    package var traceID: String { Self.hex(high) + Self.hex(low) }

    package var spanID: String { Self.hex(span) }

    /// The half of the trace's id that a sampler goes by; every service gets the same.
    var randomness: UInt64 { low }

    /// Another span of the same trace.
    func newSpan() -> TraceContext { TraceContext(high, low, Self.freshID(), isSampled: isSampled, state: state) }

    func sampled(_ isSampled: Bool) -> TraceContext {
        TraceContext(high, low, span, isSampled: isSampled, state: state)
    }

    private static func freshID() -> UInt64 { UInt64.random(in: 1...UInt64.max) }

    private static func hex(_ number: UInt64) -> String {
        unsafe String(unsafeUninitializedCapacity: 16) { digits in
            for index in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: number >> UInt64(60 - 4 * index)) & 0xF
                unsafe digits.initializeElement(at: index, to: digit + (digit < 10 ? 0x30 : 0x57))
            }
            return 16
        }
    }

    /// Lower-case digits alone, as the recommendation has it.
    private static func number(_ digits: some Sequence<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }
}
