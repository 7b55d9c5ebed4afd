import CLinux
import Glibc

/// The descriptors that one thread waits for: what a wait costs does not grow with how many there are.
@safe package final class Epoll {
    package struct Events: OptionSet, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let readable = Events(rawValue: EPOLLIN.rawValue)
        package static let writable = Events(rawValue: EPOLLOUT.rawValue)
        /// Told of whether it is asked for or not.
        fileprivate static let broken = Events(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue)
    }

    private let fileDescriptor: Int32
    private var watched: Set<Int32> = []
    private let ready: UnsafeMutablePointer<isthmus_epoll_event>

    package init() {
        fileDescriptor = isthmus_epoll()
        precondition(fileDescriptor >= 0, "epoll: out of file descriptors")
        unsafe ready = .allocate(capacity: Int(Self.most))
    }

    deinit {
        close(fileDescriptor)
        unsafe ready.deallocate()
    }

    /// Begins to wait for a descriptor, or changes what is waited for; false if the kernel does not take it.
    @discardableResult
    package func watch(_ descriptor: Int32, for events: Events) -> Bool {
        func control(_ operation: Int32) -> Bool {
            isthmus_epoll_control(fileDescriptor, operation, descriptor, events.rawValue) == 0
        }
        if watched.insert(descriptor).inserted { return control(EPOLL_CTL_ADD) }
        // Closed without our knowing, the number may be another file's by now, which the kernel has not been told of.
        return control(EPOLL_CTL_MOD) || errno == ENOENT && control(EPOLL_CTL_ADD)
    }

    /// Ends to wait for a descriptor; to be called before it is closed.
    package func forget(_ descriptor: Int32) {
        guard watched.remove(descriptor) != nil else { return }
        _ = isthmus_epoll_control(fileDescriptor, EPOLL_CTL_DEL, descriptor, 0)
    }

    /// Waits until something is ready or the time is over, and tells what is ready.
    ///
    /// - Parameter milliseconds: Below zero: without a limit.
    package func wait(milliseconds: Int32, _ body: (Int32, Events) -> Void) {
        // Interrupted by a signal is as good as nothing ready.
        let count = unsafe isthmus_epoll_wait(fileDescriptor, ready, Self.most, milliseconds)
        for index in 0..<max(Int(count), 0) {
            let event = unsafe ready[index]
            var events = Events(rawValue: event.events)
            // What is broken is noticed by reading or writing, whichever is next.
            if !events.isDisjoint(with: .broken) { events.formUnion([.readable, .writable]) }
            body(event.descriptor, events)
        }
    }

    /// Descriptors that one wait tells of.
    private static let most: Int32 = 64
}
