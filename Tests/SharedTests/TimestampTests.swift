import Foundation
import Shared
import Testing

struct TimestampTests {
    @Test(arguments: [
        // As Linq writes them: no fraction, three, six and nine digits, offsets.
        ("2026-02-05T19:31:13Z", "2026-02-05T19:31:13.000Z"),
        ("2026-02-05T19:31:13.736Z", "2026-02-05T19:31:13.736Z"),
        ("2026-01-04T05:48:51.321469Z", "2026-01-04T05:48:51.321Z"),
        ("2026-02-05T19:31:13.736444093Z", "2026-02-05T19:31:13.736Z"),
        ("2026-02-05T19:31:13.999999999Z", "2026-02-05T19:31:13.999Z"),
        ("2025-05-21T15:30:00.000-05:00", "2025-05-21T20:30:00.000Z"),
        ("2026-02-05T23:30:00+05:45", "2026-02-05T17:45:00.000Z"),
        ("2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00.000Z"),
        // As RFC 3339 allows besides: lower case, a space, one digit, -00:00.
        ("2026-02-05t19:31:13.5z", "2026-02-05T19:31:13.500Z"),
        ("2026-02-05 19:31:13.05Z", "2026-02-05T19:31:13.050Z"),
        ("2026-02-05T19:31:13-00:00", "2026-02-05T19:31:13.000Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"),
        // Leap days, the first moment, and before it.
        ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"),
        ("2000-02-29T23:59:59Z", "2000-02-29T23:59:59.000Z"),
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
        ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
        ("1900-03-01T00:00:00.001Z", "1900-03-01T00:00:00.001Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
    ])
    func `every form is read, and written in one`(text: String, expected: String) throws {
        let timestamp = try #require(Timestamp(text))
        #expect(timestamp.description == expected)
        #expect(Timestamp(timestamp.description) == timestamp)
    }

    @Test(arguments: [
        "", "2026", "2026-02-05", "2026-02-05T19:31:13", "2026-02-05T19:31Z", "2026-02-05T19:31:13.Z",
        "2026-02-30T00:00:00Z", "2025-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z",
        "2026-00-05T00:00:00Z", "2026-13-05T00:00:00Z", "2026-02-00T00:00:00Z", "2026-02-32T00:00:00Z",
        "2026-02-05T24:00:00Z", "2026-02-05T19:60:13Z", "2026-02-05T19:31:61Z", "2026-02-05T19:31:13+24:00",
        "2026-02-05T19:31:13+0500", "2026-02-05T19:31:13ZZ", " 2026-02-05T19:31:13Z", "2026-02-05T19:31:13Z ",
        "-026-02-05T19:31:13Z", "2026-2-5T19:31:13Z", "1770319873", "٢٠٢٦-02-05T19:31:13Z", "2026-02-05T19:31:13.7 Z",
    ])
    func `what is no moment is refused`(text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test func `random moments read as Foundation reads them`() throws {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        var random = SystemRandomNumberGenerator()
        for _ in 0..<1000 {
            let milliseconds = Int64.random(in: -5_000_000_000_000...10_000_000_000_000, using: &random)
            let timestamp = Timestamp(millisecondsSince1970: milliseconds)
            let date = try #require(formatter.date(from: timestamp.description))
            #expect(Int64((date.timeIntervalSince1970 * 1000).rounded()) == milliseconds)
            formatter.timeZone = TimeZone(secondsFromGMT: Int.random(in: -56...56, using: &random) * 900)
            #expect(Timestamp(formatter.string(from: date)) == timestamp)
            #expect(Timestamp(timestamp.date) == timestamp)
        }
    }

    @Test func `whole seconds are rounded down, before 1970 too`() {
        #expect(Timestamp(millisecondsSince1970: 1999).secondsSince1970 == 1)
        #expect(Timestamp(millisecondsSince1970: -1).secondsSince1970 == -1)
        #expect(Timestamp(millisecondsSince1970: -1000).secondsSince1970 == -1)
        #expect(Timestamp(millisecondsSince1970: -1) < Timestamp(millisecondsSince1970: 0))
    }

    @Test func `anything but a date-time is a decoding error`() {
        for json in [#"["2026-02-30T00:00:00Z"]"#, "[1770319873]", "[null]"] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode([Timestamp].self, from: Data(json.utf8))
            }
        }
    }
}
