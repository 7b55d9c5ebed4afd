import Foundation
import Shared

/// What iOS would do with a state, and what its sender should know about it.
struct StateReport {
    /// The bytes of a state by themselves and within the pushes that carry it.
    struct Sizes: Equatable {
        let state: Int
        let update: Int
        /// With attributes of usual length and the kind's own alert.
        let start: Int
    }

    let kind: String
    /// Why iOS would drop the state; `nil` if it would show it.
    let refusal: ContentStateError?
    let findings: [Finding]
    let sizes: Sizes?
    /// The state as iOS understands it.
    let understood: [UInt8]?

    var isShown: Bool { refusal == nil }

    /// - Parameter previous: the state that the Island shows already.
    init(_ state: [UInt8], kind: IslandKind, previous: [UInt8]? = nil) {
        self.kind = kind.attributesType
        var findings = Self.lint(state, kind)
        do {
            let understood = try kind.check(state)
            self.understood = understood
            let sizes = Self.sizes(understood, kind)
            self.sizes = sizes.figures
            refusal = sizes.refusal
            if let refusal = sizes.refusal {
                findings.append(Finding(name: .tooLarge, effect: .dropped, path: "", words: "\(refusal)"))
            }
            // Another state that no phone reads was never shown.
            if let previous, let shown = try? kind.check(previous), shown == understood {
                findings.append(
                    Finding(
                        name: .equalState, effect: .note, path: "",
                        words: "the same as the one before: iOS draws nothing anew"))
            }
        } catch {
            understood = nil
            sizes = nil
            refusal = error
            if !findings.contains(where: { $0.effect == .dropped }) {
                findings.append(Finding(name: .undecodable, effect: .dropped, path: "", words: "\(error)"))
            }
        }
        self.findings = findings
    }

    private static func lint(_ state: [UInt8], _ kind: IslandKind) -> [Finding] {
        guard let value = AnyJSON(parsing: state) else {
            return [Finding(name: .notJSON, effect: .dropped, path: "", words: "this is not JSON")]
        }
        guard value["aps"] == nil, value["content-state"] == nil else {
            let words = "this is a push with a state in it; check what stands behind \"content-state\""
            return [Finding(name: .wholePush, effect: .dropped, path: "", words: words)]
        }
        let duplicates = StateShape.repeatedKeys(of: state).map {
            Finding(name: .duplicateKey, effect: .misread, path: $0, words: "stands there more than once")
        }
        return StateLint(value, shape: kind.shape()).findings + duplicates
    }

    private static func sizes(
        _ state: [UInt8], _ kind: IslandKind
    ) -> (figures: Sizes?, refusal: ContentStateError?) {
        let time = Int64(1_800_000_000)
        let id = "00000000-0000-0000-0000-000000000000"
        do throws(ContentStateError) {
            let update = try PushBody.update(timestamp: time, contentState: state, staleDate: time)
            let start = try PushBody.start(
                timestamp: time, contentState: state, attributesType: kind.attributesType,
                attributes: kind.attributes(userID: id, sessionID: id), alert: kind.startAlert, staleDate: time,
                relevanceScore: 100, asksForUpdateToken: true)
            return (Sizes(state: state.count, update: update.count, start: start.count), nil)
        } catch {
            return (nil, error)
        }
    }

    // MARK: - Words

    var text: String {
        var lines = [refusal.map { "dropped: \($0)" } ?? "shown: iOS reads it as \(kind).ContentState"]
        lines += findings.map { finding in
            "  \(finding.effect.rawValue)  \(finding.name.rawValue)"
                + (finding.path.isEmpty ? "" : "  \(finding.path)") + ": \(finding.words)"
        }
        if let sizes {
            let limit = PushBody.limit
            lines.append(
                "size: \(sizes.state) bytes; \(sizes.update) of \(limit) as an update, \(sizes.start) as a start")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    var json: AnyJSON {
        var fields: [String: AnyJSON] = [
            "kind": .string(kind), "shown": .bool(isShown), "findings": .array(findings.map(\.json)),
        ]
        if let refusal { fields["reason"] = .string("\(refusal)") }
        if case .undecodable(let path, let expected, let found)? = refusal {
            fields["path"] = .string(path)
            fields["expected"] = .string(expected)
            fields["found"] = .string(found)
        }
        if let sizes {
            fields["bytes"] = .object([
                "state": .integer(Int64(sizes.state)), "update": .integer(Int64(sizes.update)),
                "start": .integer(Int64(sizes.start)), "limit": .integer(Int64(PushBody.limit)),
            ])
        }
        if let understood { fields["state"] = AnyJSON(parsing: understood) }
        return .object(fields)
    }
}
