import Cache
import Runtime
import TestSupport
import Testing

let quiet = Log(service: "test", level: .error)

/// Runs `body` with a client, connected unless told otherwise, and closes it whatever happens.
///
/// The time for a command is generous: the machine may be busy, and few tests are about it.
func withClient<R>(
    _ url: String, caFile: String? = nil, commandTimeout: Duration = .seconds(30), isConnected: Bool = true,
    metrics: Metrics = Metrics(), _ body: (RedisClient) async throws -> R
) async throws -> R {
    let client = try RedisClient(
        url: url, caFile: caFile, connectTimeout: .seconds(2), commandTimeout: commandTimeout, log: quiet,
        metrics: metrics)
    let result: Result<R, any Error>
    do {
        if isConnected { try await client.waitUntilConnected(within: .seconds(30)) }
        result = .success(try await body(client))
    } catch { result = .failure(error) }
    await client.close()
    return try result.get()
}

private struct NothingThrown: Error {}

/// The `CacheError` that `body` throws; another error passes through, and none at all is an error too.
func cacheError<R>(_ body: () async throws -> R) async throws -> CacheError {
    do { _ = try await body() } catch let error as CacheError { return error }
    throw NothingThrown()
}

extension RedisClient {
    /// Why it is not connected, once it has tried.
    func objection() async throws -> CacheError {
        var found: CacheError?
        try await eventually("it has tried") {
            let error = try await cacheError { try await waitUntilConnected(within: .milliseconds(20)) }
            found = error
            return error.kind != .timedOut
        }
        return try #require(found)
    }

    /// Expects `answer` to a command.
    func expect(
        _ arguments: String..., answer: RedisValue, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let found = try await command(arguments.map { Array($0.utf8) })
        #expect(found == answer, sourceLocation: sourceLocation)
    }
}

extension RedisValue {
    static func text(_ text: String) -> RedisValue { .bytes(Array(text.utf8)) }
}
