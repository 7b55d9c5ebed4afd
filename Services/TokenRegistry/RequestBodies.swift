import Foundation
import Shared

/// What is wrong with a request, for its sender to put right.
struct RequestRefused: Error, Equatable {
    let status: Int
    let title: String
    let detail: String
    /// Where: a JSON pointer into the body, or the name of a parameter.
    var pointer: String?
    /// What belongs there.
    var expected: String?

    static func invalid(_ pointer: String, _ detail: String, expected: String) -> RequestRefused {
        RequestRefused(
            status: 400, title: "The request is not valid", detail: detail, pointer: pointer, expected: expected)
    }
}

/// Names that the customer chooses: users, devices, activities, sessions, kinds.
enum Identifier {
    static let mostCharacters = 128
    static let expected = "1 to \(mostCharacters) characters, none of them a control character"

    static func isValid(_ text: String) -> Bool {
        (1...mostCharacters).contains(text.unicodeScalars.count)
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    static func check(_ text: String, at pointer: String) throws(RequestRefused) -> String {
        guard isValid(text) else {
            throw .invalid(pointer, "the value is empty, too long or not printable", expected: expected)
        }
        return text
    }

    static func checkIfPresent(_ text: String?, at pointer: String) throws(RequestRefused) -> String? {
        guard let text else { return nil }
        return try check(text, at: pointer)
    }
}

/// The name of a time zone or a locale: its form alone, since a phone may know newer ones than we do.
enum PlaceName {
    static let mostCharacters = 64
    static let expected = "1 to \(mostCharacters) of the characters A-Z a-z 0-9 _ + - / . @ = ;"

    static func check(_ text: String?, at pointer: String) throws(RequestRefused) -> String? {
        guard let text else { return nil }
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: "_+-/.@=;".utf8.contains(byte)
            }
        }
        guard isPlain, (1...mostCharacters).contains(text.utf8.count) else {
            throw .invalid(pointer, "this is no such name", expected: expected)
        }
        return text
    }
}

/// A push token as Apple's API gives it: bytes in hexadecimal, of a length that Apple does not promise.
enum PushToken {
    static let lengths = 16...512
    static let expected = "\(lengths.lowerBound) to \(lengths.upperBound) hexadecimal digits, an even number of them"

    /// In lower case.
    ///
    /// An empty token is refused like any other that is not one: it never clears what is stored.
    static func check(_ text: String) throws(RequestRefused) -> String {
        guard lengths.contains(text.utf8.count), text.utf8.count.isMultiple(of: 2),
            text.utf8.allSatisfy({
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0 | 0x20
            })
        else { throw .invalid("/token", "this is not a push token", expected: expected) }
        return text.lowercased()
    }
}

/// The bodies of the HTTP interface as they are written; `checked` is what they mean.
enum RequestBody {
    static let mostBytes = 16 << 10

    struct Handles: Decodable {
        let handles: [String]

        func checked() throws(RequestRefused) -> [Handle] {
            guard handles.count <= User.mostHandles else {
                throw .invalid("/handles", "there are too many handles", expected: "at most \(User.mostHandles)")
            }
            var checked: [Handle] = []
            for (index, text) in handles.enumerated() {
                guard let handle = Handle(text) else {
                    throw .invalid(
                        "/handles/\(index)", "this is neither a phone number nor an e-mail address",
                        expected: "E.164 such as +12025559876, or an e-mail address")
                }
                if !checked.contains(handle) { checked.append(handle) }
            }
            return checked
        }
    }

    struct StartToken: Decodable {
        let attributesType: String
        let token: String
        let environment: APNSEnvironment?
        let bundleID: String?
        let wantsInputPushToken: Bool?
        let timeZone: String?
        let locale: String?

        func checked(device: String) throws(RequestRefused) -> StartTokenRegistration {
            StartTokenRegistration(
                deviceID: device, attributesType: try Identifier.check(attributesType, at: "/attributesType"),
                token: try PushToken.check(token), environment: environment,
                bundleID: try Identifier.checkIfPresent(bundleID, at: "/bundleID"),
                wantsInputPushToken: wantsInputPushToken, timeZone: try PlaceName.check(timeZone, at: "/timeZone"),
                locale: try PlaceName.check(locale, at: "/locale"))
        }
    }

    struct Activity: Decodable {
        let attributesType: String
        let token: String
        let sessionID: String?
        let environment: APNSEnvironment?
        let bundleID: String?
        let startedAt: Timestamp?

        /// - Parameter now: A start in the future is the phone's clock being wrong, and counts as now.
        func checked(device: String, activity: String, now: Timestamp) throws(RequestRefused) -> ActivityRegistration {
            ActivityRegistration(
                deviceID: device, activityID: activity,
                attributesType: try Identifier.check(attributesType, at: "/attributesType"),
                token: try PushToken.check(token),
                sessionID: try Identifier.checkIfPresent(sessionID, at: "/sessionID"), environment: environment,
                bundleID: try Identifier.checkIfPresent(bundleID, at: "/bundleID"),
                startedAt: startedAt.map { min($0, now) })
        }
    }

    struct Running: Decodable {
        let running: [String]

        func checked() throws(RequestRefused) -> [String] {
            guard running.count <= User.mostCardsOnADevice else {
                throw .invalid("/running", "there are too many", expected: "at most \(User.mostCardsOnADevice)")
            }
            for (index, id) in running.enumerated() { _ = try Identifier.check(id, at: "/running/\(index)") }
            return running
        }
    }

    /// Reads a body, or says where it is not what was expected.
    static func decode<Body: Decodable>(_ type: Body.Type, from bytes: [UInt8]) throws(RequestRefused) -> Body {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch let error as DecodingError {
            throw refusal(error)
        } catch {
            throw .invalid("", "the body cannot be read", expected: "a JSON object")
        }
    }

    private static func refusal(_ error: DecodingError) -> RequestRefused {
        switch error {
        case .keyNotFound(let key, let context):
            .invalid(pointer(context.codingPath + [key]), "the field is missing", expected: "a value")
        case .valueNotFound(let type, let context):
            .invalid(pointer(context.codingPath), "the value is null", expected: name(type))
        case .typeMismatch(let type, let context):
            .invalid(pointer(context.codingPath), "the value is of another type", expected: name(type))
        case .dataCorrupted(let context) where context.codingPath.isEmpty:
            .invalid("", "the body is not JSON", expected: "a JSON object")
        case .dataCorrupted(let context):
            .invalid(pointer(context.codingPath), "the value is not one of those taken here", expected: hint(context))
        @unknown default: .invalid("", "the body cannot be read", expected: "a JSON object")
        }
    }

    /// RFC 6901.
    private static func pointer(_ path: [any CodingKey]) -> String {
        path.map { key in
            let name = key.intValue.map(String.init) ?? key.stringValue
            return "/" + name.replacing("~", with: "~0").replacing("/", with: "~1")
        }.joined()
    }

    private static func name(_ type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is [Any].Type: "an array"
        default: "an object"
        }
    }

    private static func hint(_ context: DecodingError.Context) -> String {
        switch context.codingPath.last?.stringValue {
        case "environment": "\"production\" or \"sandbox\""
        case "startedAt": "an RFC 3339 date-time"
        default: "a value as the interface's description says"
        }
    }
}
