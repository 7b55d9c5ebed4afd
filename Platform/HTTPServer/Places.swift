import Runtime

/// Who is connected and to which of the library's threads, from being accepted until being closed.
///
/// The limits on connections are kept here. The library has its own, but does not count a connection that was handed
/// over and not taken up yet; and a thread that then finds itself at its limit keeps a lock for ever (0.9.75,
/// `new_connection_process_`). With these it never gets there.
final class Places: Sendable {
    /// How many connections a thread may have, so that it never gets 128 events at once.
    ///
    /// libmicrohttpd 0.9.75 takes 128 at a time, and when it got all 128 it waits once more before it deals with any:
    /// those clients stand still until another one moves. Its wake-up channel counts too.
    static let maxPerThread = 126

    private struct Place {
        let address: String
        let thread: Int
    }

    private struct State {
        var places: [Int32: Place] = [:]
        var countByAddress: [String: Int] = [:]
        var countByThread: [Int]

        mutating func leave(_ descriptor: Int32) {
            guard let place = places.removeValue(forKey: descriptor) else { return }
            countByThread[place.thread] -= 1
            let left = countByAddress[place.address, default: 0] - 1
            countByAddress[place.address] = left > 0 ? left : nil
        }
    }

    /// Signalled when there is room again after there was none.
    let wakeup = Wakeup()
    let threads: Int
    private let maxConnections: Int
    private let maxPerAddress: Int
    private let state: Locked<State>

    /// - Parameter threads: At least so many; there are more if `limits.maxConnections` asks for it.
    init(_ limits: HTTPServerLimits, threads: Int) {
        self.threads = max(1, threads, (limits.maxConnections - 1) / Self.maxPerThread + 1)
        maxConnections = limits.maxConnections
        maxPerAddress = limits.maxConnectionsPerAddress ?? .max
        state = Locked(State(countByThread: Array(repeating: 0, count: self.threads)))
    }

    /// How many connections there are, those included that no thread of the library has taken up yet.
    var taken: Int { state.withLock { $0.places.count } }

    var isFull: Bool { state.withLock { $0.places.count >= maxConnections } }

    /// Gives the connection to the thread that has the fewest; `nil` if its address has too many.
    ///
    /// Asked for when there is room, by one thread alone.
    func take(_ descriptor: Int32, address: String) -> Int? {
        state.withLock { state in
            // The number is free again, so the library has closed that connection without a word, as without memory.
            state.leave(descriptor)
            let count = state.countByAddress[address, default: 0]
            guard count < maxPerAddress,
                let thread = state.countByThread.indices.min(by: {
                    state.countByThread[$0] < state.countByThread[$1]
                })
            else { return nil }
            state.places[descriptor] = Place(address: address, thread: thread)
            state.countByAddress[address] = count + 1
            state.countByThread[thread] += 1
            return thread
        }
    }

    /// The address that the connection came from.
    func address(of descriptor: Int32) -> String { state.withLock { $0.places[descriptor]?.address ?? "" } }

    /// To be called before the number is given back to the system.
    func leave(_ descriptor: Int32) {
        let wasFull = state.withLock { state in
            defer { state.leave(descriptor) }
            return state.places.count >= maxConnections
        }
        if wasFull { wakeup.signal() }
    }
}
