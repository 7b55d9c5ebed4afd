import Foundation
import Shared
import Testing

/// What earlier versions wrote, byte for byte, a folder a version: services of both run side by side in an upgrade.
struct FrozenWireTests {
    @Test func `what an earlier version wrote is read, and nothing of it gets lost`() throws {
        for (path, bytes) in try frozen() {
            let lost = missing(of: try object(bytes), in: try object(try rewritten(bytes))) { $0 == $1 }
            #expect(lost == [], "\(path)")
        }
    }

    @Test func `what is written now has all that an earlier version's readers know`() throws {
        for (path, bytes) in try frozen() {
            let name = try #require(path.split(separator: "/").last)
            let now = try object(try Fixture.bytes("Wire/\(name)"))
            #expect(missing(of: try object(bytes), in: now) { type(of: $0) == type(of: $1) } == [], "\(path)")
        }
    }

    private func frozen() throws -> [(path: String, bytes: [UInt8])] {
        let versions = try Fixture.names(in: "WireFrozen")
        #expect(!versions.isEmpty)
        return try versions.flatMap { version in
            try Fixture.names(in: "WireFrozen/\(version)").map { name in
                (name, try Fixture.bytes("WireFrozen/\(version)/\(name)"))
            }
        }
    }

    /// The message as it is written after it was read; whose it is, is told by its type.
    private func rewritten(_ bytes: [UInt8]) throws -> [UInt8] {
        func again<Payload: JSONPayload & JSONWritable>(as: Payload.Type) throws -> [UInt8] {
            try CloudEvent<Payload>(decoding: bytes).encoded()
        }
        let readers: [() throws -> [UInt8]] = [
            { try again(as: InboundEvent.self) }, { try again(as: ReplyRequest.self) },
            { try again(as: DesiredIsland.self) }, { try again(as: RegistryCommand.self) },
            { try again(as: RegistryLookup.self) }, { try again(as: RegistryRecord.self) },
            { try again(as: RegistryStart.self) },
        ]
        for reader in readers {
            do { return try reader() } catch is UnsupportedWireType { continue }
        }
        return try again(as: RegistryStartAnswer.self)
    }

    private func object(_ bytes: [UInt8]) throws -> Any { try JSONSerialization.jsonObject(with: Data(bytes)) }

    /// The paths at which `old` has something that `new` has not.
    ///
    /// - Parameter agree: Whether a text, number or truth value may stand for the other one.
    private func missing(
        of old: Any, in new: Any, at path: String = "", _ agree: (NSObject, NSObject) -> Bool
    ) -> [String] {
        if let old = old as? [String: Any] {
            guard let new = new as? [String: Any] else { return [path] }
            return old.flatMap { key, value in
                new[key].map { missing(of: value, in: $0, at: "\(path).\(key)", agree) } ?? ["\(path).\(key)"]
            }
        }
        if let old = old as? [Any] {
            guard let new = new as? [Any], new.count >= old.count else { return [path] }
            return zip(old, new).flatMap { missing(of: $0, in: $1, at: path + "[]", agree) }
        }
        guard let old = old as? NSObject, let new = new as? NSObject else { return [path] }
        return agree(old, new) ? [] : [path]
    }
}
