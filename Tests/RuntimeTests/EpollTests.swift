import Glibc
import Runtime
import Testing

struct EpollTests {
    private func ready(_ epoll: Epoll, milliseconds: Int32 = 0) -> [Int32: Epoll.Events] {
        var found: [Int32: Epoll.Events] = [:]
        epoll.wait(milliseconds: milliseconds) { found[$0] = $1 }
        return found
    }

    @Test func `a descriptor is ready for what it is watched for, until it is forgotten`() throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let epoll = Epoll()
        #expect(epoll.watch(ends[0], for: .readable))
        #expect(ready(epoll).isEmpty)
        #expect(epoll.watch(ends[0], for: [.readable, .writable]))
        #expect(ready(epoll) == [ends[0]: .writable])
        #expect(write(ends[1], "x", 1) == 1)
        #expect(ready(epoll) == [ends[0]: [.readable, .writable]])
        #expect(epoll.watch(ends[0], for: .readable))
        #expect(ready(epoll) == [ends[0]: .readable])
        epoll.forget(ends[0])
        epoll.forget(ends[0])
        #expect(ready(epoll).isEmpty)
        #expect(epoll.watch(ends[0], for: .writable))
        #expect(ready(epoll) == [ends[0]: .writable])
    }

    @Test func `a number that was closed and is another file's now is watched all the same`() throws {
        let epoll = Epoll()
        var first: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &first) == 0)
        #expect(epoll.watch(first[0], for: .readable))
        var second: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &second) == 0)
        defer { for end in [first[0], first[1], second[1]] { close(end) } }
        // Closes what the number was, and makes it another name of the other socket.
        try #require(dup2(second[0], first[0]) == first[0])
        close(second[0])
        #expect(epoll.watch(first[0], for: .writable))
        #expect(ready(epoll) == [first[0]: .writable])
    }

    @Test func `a signal of another thread ends a wait without a limit`() {
        let epoll = Epoll()
        let wakeup = Wakeup()
        #expect(epoll.watch(wakeup.fileDescriptor, for: .readable))
        wakeup.signal()
        #expect(ready(epoll, milliseconds: -1) == [wakeup.fileDescriptor: .readable])
        wakeup.drain()
        #expect(ready(epoll).isEmpty)
    }

    @Test func `many that are ready are all told of, if not at once`() throws {
        let epoll = Epoll()
        let wakeups = (0..<100).map { _ in Wakeup() }
        for wakeup in wakeups {
            epoll.watch(wakeup.fileDescriptor, for: .readable)
            wakeup.signal()
        }
        var told: Set<Int32> = []
        for _ in 0..<4 { told.formUnion(ready(epoll).keys) }
        #expect(told == Set(wakeups.map(\.fileDescriptor)))
    }
}
