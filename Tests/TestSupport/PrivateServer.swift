import Foundation

/// A server ended before it was ready.
struct ServerNotStarted: Error, CustomStringConvertible {
    let log: String

    var description: String { "the server did not start: \(log)" }
}

/// Starts a server on a free port, and on another one when somebody else took the first meanwhile.
func startOnFreePort<Server>(
    _ make: (UInt16) -> Server, start: (Server) async throws -> Void
) async throws -> Server {
    for _ in 0..<4 {
        let server = make(try freePort())
        do {
            try await start(server)
            return server
        } catch let error as ServerNotStarted where error.log.contains("Address already in use") { continue }
    }
    throw NoFreePort()
}

/// What is in a file; `nil` if there is none.
///
/// Not `String(contentsOfFile:)`: for a file that is still empty it leaks its buffer.
func textOfFile(_ path: String) -> String? {
    guard let file = FileHandle(forReadingAtPath: path), let data = try? file.readToEnd() else { return nil }
    return String(decoding: data, as: UTF8.self)
}
