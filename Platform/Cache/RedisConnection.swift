import Crypto
import Glibc
import Runtime

/// A connection and the commands on their way over it.
///
/// It belongs to one thread.
final class RedisConnection {
    private static let readSize = 64 << 10
    /// So many bytes that are written already may stay in memory in front of those that are not.
    private static let writtenLimit = 1 << 20
    /// How many times its patience a command waits while others are answered.
    private static let mostPatience = 10.0

    private let socket: RedisSocket
    private let reader = RedisReplyReader()
    private var output: [UInt8] = []
    private var written = 0
    private var sent: [PendingCommand] = []
    /// How many of `sent` have been answered; cut off now and then.
    private var answered = 0
    private var newlyAnswered = (count: 0, bytes: 0)
    private var wantsWritable = false
    /// When the last answer came, on the clock of `monotonicSeconds()`.
    private var lastAnswer = 0.0
    var certificateNotAfter: Int64? { socket.certificateNotAfter }
    private var input = [UInt8](repeating: 0, count: readSize)

    init(_ socket: RedisSocket) { self.socket = socket }

    /// Whether nobody waits for an answer.
    var isIdle: Bool { answered == sent.count }

    func add(_ commands: [PendingCommand]) {
        if written > Self.writtenLimit {
            output.removeFirst(written)
            written = 0
        }
        for command in commands { output += command.command.bytes }
        sent += commands
    }

    /// Writes as much as the socket takes.
    func write() throws(CacheError) {
        wantsWritable = false
        while written < output.count {
            switch try writeOnce() {
            case .moved(let count): written += count
            case .wantsWrite:
                wantsWritable = true
                return
            case .wantsRead: return
            case .closed: throw CacheError(.notConnected, "the server closed the connection")
            }
        }
        output.removeAll(keepingCapacity: output.capacity <= Self.writtenLimit)
        written = 0
    }

    private func writeOnce() throws(CacheError) -> TLSStream.Step {
        try unsafe output.withUnsafeBufferPointer { (bytes) throws(CacheError) in
            try unsafe socket.write(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[written...])))
        }
    }

    /// Waits for bytes, for the next deadline or for `wakeup`.
    ///
    /// Returns whether there is something to read.
    func wait(wakeup: Wakeup) throws(CacheError) -> Bool {
        var entries = [
            pollfd(fd: socket.fileDescriptor, events: Int16(POLLIN | (wantsWritable ? POLLOUT : 0)), revents: 0),
            pollfd(fd: wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        let timeout = isIdle ? -1 : pollTimeout(until: deadline)
        let count = unsafe poll(&entries, 2, timeout)
        guard count >= 0 || errno == EINTR else { throw CacheError(.notConnected, systemError(errno)) }
        if count > 0, entries[1].revents != 0 { wakeup.drain() }
        // Trouble with the socket shows as readable too, and reading says what it is.
        return count > 0 && entries[0].revents & ~Int16(POLLOUT) != 0
    }

    /// Reads what is there and gives each answer to the command whose turn it is.
    func read() throws(CacheError) {
        while true {
            switch try readOnce() {
            case .moved: break
            case .wantsRead: return
            case .wantsWrite:
                wantsWritable = true
                return
            case .closed: throw CacheError(.notConnected, "the server closed the connection")
            }
            while let value = try reader.next() { try answer(value) }
        }
    }

    private func readOnce() throws(CacheError) -> TLSStream.Step {
        try unsafe input.withUnsafeMutableBufferPointer { (buffer) throws(CacheError) in
            let step = try unsafe socket.read(into: UnsafeMutableRawBufferPointer(buffer))
            if case .moved(let count) = step {
                try unsafe reader.feed(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: buffer[..<count])))
            }
            return step
        }
    }

    private func answer(_ value: RedisValue) throws(CacheError) {
        guard answered < sent.count else { throw CacheError(.protocolError, "an answer that nobody asked for") }
        let command = sent[answered]
        answered += 1
        lastAnswer = monotonicSeconds()
        newlyAnswered.count += 1
        newlyAnswered.bytes += command.command.bytes.count
        if case .error(let words) = value {
            command.answer(.failure(CacheError.refused(words)))
        } else {
            command.answer(.success(value))
        }
        guard answered == sent.count || answered >= 1024 else { return }
        sent.removeFirst(answered)
        answered = 0
    }

    /// How many commands were answered since the last call, and how many bytes they had.
    func takeAnswered() -> (count: Int, bytes: Int) {
        defer { newlyAnswered = (0, 0) }
        return newlyAnswered
    }

    /// Throws when a command's time is over.
    func checkDeadlines() throws(CacheError) {
        guard !isIdle, deadline <= monotonicSeconds() else { return }
        throw CacheError(.timedOut, "no answer in time")
    }

    /// When the first in the line, which is the first to be overdue, has waited too long.
    ///
    /// Many that came at once take their time: as long as answers come, dropping the connection would only make all of
    /// them ask elsewhere and more slowly.
    private var deadline: Double {
        let command = sent[answered]
        return min(
            max(command.start, lastAnswer) + command.patience, command.start + command.patience * Self.mostPatience)
    }

    /// Answers all that are left, for the connection is not used any more.
    func failRest() {
        let now = monotonicSeconds()
        for command in sent[answered...] {
            let kind: CacheError.Kind = command.start + command.patience <= now ? .timedOut : .notConnected
            command.answer(.failure(CacheError(kind, "the connection was dropped before the answer came")))
        }
        sent = []
        answered = 0
    }

    /// One command and its answer, before the connection is shared.
    func exchange(_ command: RedisCommand, until deadline: Double) throws(CacheError) -> RedisValue {
        let box = Locked<RedisAnswer?>(nil)
        let start = monotonicSeconds()
        add([
            PendingCommand(
                command: command, start: start, patience: deadline - start,
                answer: { answer in box.withLock { $0 = answer } })
        ])
        let never = Wakeup()
        while true {
            try write()
            if try wait(wakeup: never) { try read() }
            if let answer = box.withLock({ $0 }) {
                newlyAnswered = (0, 0)
                do { return try answer.get() } catch { return .error(error.words) }
            }
            try checkDeadlines()
        }
    }
}
