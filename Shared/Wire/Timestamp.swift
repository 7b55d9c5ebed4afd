public import Foundation

/// A moment to the millisecond, on the wire as RFC 3339 text in UTC: "2026-02-05T19:31:13.736Z".
///
/// Reads any number of fractional digits and any offset, as Linq sends them; what is finer than a millisecond is cut off.
public struct Timestamp: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    public let millisecondsSince1970: Int64

    public init(millisecondsSince1970: Int64) { self.millisecondsSince1970 = millisecondsSince1970 }

    public init(_ date: Date) {
        self.init(millisecondsSince1970: Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }

    public var date: Date { Date(timeIntervalSince1970: Double(millisecondsSince1970) / 1000) }

    /// Whole seconds since 1970, rounded down.
    public var secondsSince1970: Int64 {
        let (seconds, rest) = millisecondsSince1970.quotientAndRemainder(dividingBy: 1000)
        return rest < 0 ? seconds - 1 : seconds
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.millisecondsSince1970 < right.millisecondsSince1970
    }

    /// Reads RFC 3339 text; `nil` if it is not that, or names no day that there is.
    public init?(_ text: String) {
        var text = text
        guard let value = text.withUTF8({ Timestamp(utf8: $0) }) else { return nil }
        self = value
    }

    private init?(utf8: UnsafeBufferPointer<UInt8>) {
        var reader = DigitReader(utf8)
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
            let day = reader.number(2), reader.skip("T") || reader.skip("t") || reader.skip(" "),
            let hour = reader.number(2), reader.skip(":"), let minute = reader.number(2), reader.skip(":"),
            let second = reader.number(2), (1...12).contains(month), hour < 24, minute < 60, second <= 60,
            day >= 1, day <= Self.days(in: month, of: year)
        else { return nil }
        var milliseconds = 0
        if reader.skip(".") {
            guard let fraction = reader.fraction() else { return nil }
            milliseconds = fraction
        }
        guard let offset = reader.offsetMinutes(), reader.isAtEnd else { return nil }
        let minutes = (Self.daysSince1970(year, month, day) * 24 + hour) * 60 + minute - offset
        self.init(millisecondsSince1970: Int64((minutes * 60 + second) * 1000 + milliseconds))
    }

    public var description: String {
        let (days, time) = daysAndTime
        let date = Self.civil(days)
        let text = String(unsafeUninitializedCapacity: Self.length) {
            guard let text = $0.baseAddress else { return 0 }
            Self.write(date, time, to: text)
            return Self.length
        }
        guard !(0...9999).contains(date.year) else { return text }
        let year = String(date.year)
        return String(repeating: "0", count: max(0, 4 - year.count)) + year + text.dropFirst(4)
    }

    /// Whole days since 1970, and the milliseconds of the day.
    private var daysAndTime: (days: Int, time: Int) {
        let (days, rest) = Int(millisecondsSince1970).quotientAndRemainder(dividingBy: 86_400_000)
        return rest < 0 ? (days - 1, rest + 86_400_000) : (days, rest)
    }

    /// How many bytes the text has, for years of four digits.
    private static let length = 24

    private static func write(
        _ date: (year: Int, month: Int, day: Int), _ time: Int, to text: UnsafeMutablePointer<UInt8>
    ) {
        func write(_ number: Int, _ width: Int, at index: Int, before end: Unicode.Scalar) {
            Decimals.write(UInt64(truncatingIfNeeded: number), width, to: text + index)
            text[index + width] = UInt8(ascii: end)
        }
        write(date.year, 4, at: 0, before: "-")
        write(date.month, 2, at: 5, before: "-")
        write(date.day, 2, at: 8, before: "T")
        write(time / 3_600_000, 2, at: 11, before: ":")
        write(time / 60_000 % 60, 2, at: 14, before: ":")
        write(time / 1000 % 60, 2, at: 17, before: ".")
        write(time % 1000, 3, at: 20, before: "Z")
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = Timestamp(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected an RFC 3339 date-time")
        }
        self = value
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    // The proleptic Gregorian calendar by arithmetic (Howard Hinnant, "chrono-compatible low-level date algorithms").

    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func days(in month: Int, of year: Int) -> Int {
        let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        return month == 2 ? (isLeap ? 29 : 28) : month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31
    }
}

extension Timestamp: JSONCodable {
    package func write(to json: inout JSONOutput) {
        let (days, time) = daysAndTime
        let date = Self.civil(days)
        guard (0...9999).contains(date.year) else { return json.write(description) }
        json.append(JSONText.quote)
        json.append(Self.length) { Self.write(date, time, to: $0) }
        json.append(JSONText.quote)
    }

    package init(json: JSONInput) throws(JSONUnusual) {
        guard let value = Timestamp(utf8: try json.plainText()) else { throw JSONUnusual() }
        self = value
    }
}

/// Walks over the digits of a date-time.
private struct DigitReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { index == bytes.count }

    mutating func number(_ width: Int) -> Int? {
        guard index + width <= bytes.count else { return nil }
        var value = 0
        for byte in bytes[index..<index + width] {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        index += width
        return value
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    /// The fraction of a second in milliseconds.
    mutating func fraction() -> Int? {
        var digits = 0
        var value = 0
        while index < bytes.count, bytes[index] >= 0x30, bytes[index] <= 0x39 {
            if digits < 3 { value = value * 10 + Int(bytes[index] - 0x30) }
            digits += 1
            index += 1
        }
        guard digits > 0 else { return nil }
        for _ in min(digits, 3)..<3 { value *= 10 }
        return value
    }

    mutating func offsetMinutes() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let sign: Int
        if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
        guard let hours = number(2), skip(":"), let minutes = number(2), hours < 24, minutes < 60 else { return nil }
        return sign * (hours * 60 + minutes)
    }
}
