import Crypto
import Glibc
import Runtime

/// A TCP connection that never blocks, plain or under TLS.
///
/// It belongs to one thread.
@safe final class RedisSocket {
    let fileDescriptor: Int32
    private var tls: TLSStream?

    /// Connects to the first of the host's addresses that answers.
    init(_ url: RedisURL, _ context: TLSContext?, until deadline: Double) throws(CacheError) {
        var failure = CacheError(.notConnected, "\(url.host) has no address")
        var connected: Int32?
        for address in try Self.addresses(of: url) where connected == nil {
            do throws(CacheError) {
                connected = try Self.connect(to: address, until: deadline)
            } catch { failure = error }
        }
        guard let connected else { throw failure }
        fileDescriptor = connected
        guard let context else { return }
        do {
            let tls = try TLSStream(context, connectedTo: url.host, fileDescriptor: connected)
            self.tls = tls
            try shakeHands(tls, until: deadline)
        } catch let error as CacheError {
            throw error
        } catch {
            throw CacheError(.notConnected, "\(error)")
        }
    }

    /// Until when the server's certificate holds, in seconds since 1970; `nil` without TLS.
    var certificateNotAfter: Int64? { tls?.peerNotAfter }

    deinit {
        tls = nil
        close(fileDescriptor)
    }

    /// Reads what is there; call again until there is nothing left before waiting.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(CacheError) -> TLSStream.Step {
        do {
            if let tls { return unsafe try tls.read(into: buffer) }
        } catch { throw CacheError(.notConnected, "\(error)") }
        let count = unsafe recv(fileDescriptor, buffer.baseAddress, buffer.count, 0)
        if count == 0 { return .closed }
        return count > 0 ? .moved(count) : try Self.step(errno, otherwise: .wantsRead)
    }

    /// Writes the head of `bytes`.
    func write(_ bytes: UnsafeRawBufferPointer) throws(CacheError) -> TLSStream.Step {
        do {
            if let tls { return unsafe try tls.write(bytes) }
        } catch { throw CacheError(.notConnected, "\(error)") }
        let count = unsafe send(fileDescriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        return count >= 0 ? .moved(count) : try Self.step(errno, otherwise: .wantsWrite)
    }

    private static func step(_ code: Int32, otherwise wait: TLSStream.Step) throws(CacheError) -> TLSStream.Step {
        switch code {
        case EAGAIN: return wait
        case EINTR: return .moved(0)
        default: throw CacheError(.notConnected, systemError(code))
        }
    }

    private func shakeHands(_ tls: TLSStream, until deadline: Double) throws {
        while true {
            switch try tls.handshake() {
            case .moved: return
            case .wantsRead: try Self.wait(fileDescriptor, POLLIN, until: deadline)
            case .wantsWrite: try Self.wait(fileDescriptor, POLLOUT, until: deadline)
            case .closed: throw CacheError(.notConnected, "the server closed the connection")
            }
        }
    }

    private struct Address {
        let family: Int32
        let bytes: [UInt8]
    }

    private static func addresses(of url: RedisURL) throws(CacheError) -> [Address] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(url.host, "\(url.port)", &hints, &first)
        guard code == 0 else {
            throw CacheError(.notConnected, "\(url.host): \(unsafe String(cString: gai_strerror(code)))")
        }
        defer { unsafe freeaddrinfo(first) }
        var addresses: [Address] = []
        var entry = unsafe first
        while let current = unsafe entry {
            let bytes = unsafe UnsafeRawBufferPointer(
                start: current.pointee.ai_addr, count: Int(current.pointee.ai_addrlen))
            unsafe addresses.append(Address(family: current.pointee.ai_family, bytes: Array(bytes)))
            unsafe entry = current.pointee.ai_next
        }
        return addresses
    }

    private static func connect(to address: Address, until deadline: Double) throws(CacheError) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(address.family, kind, 0)
        guard descriptor >= 0 else { throw CacheError(.notConnected, systemError(errno)) }
        do throws(CacheError) {
            let status = unsafe address.bytes.withUnsafeBytes { bytes in
                guard let start = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress else {
                    return Int32(-1)
                }
                return unsafe Glibc.connect(descriptor, start, socklen_t(bytes.count))
            }
            if status != 0 {
                guard errno == EINPROGRESS else { throw CacheError(.notConnected, systemError(errno)) }
                try wait(descriptor, POLLOUT, until: deadline)
                let code = option(SO_ERROR, of: descriptor)
                guard code == 0 else { throw CacheError(.notConnected, systemError(code)) }
            }
            // Without it a small command may wait for the acknowledgement of the one before.
            var on: Int32 = 1
            unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32 {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        let status = unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &length)
        return status == 0 ? value : errno
    }

    private static func wait(_ descriptor: Int32, _ events: Int32, until deadline: Double) throws(CacheError) {
        while true {
            var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            let count = unsafe poll(&entry, 1, pollTimeout(until: deadline))
            if count > 0 { return }
            if count < 0, errno == EINTR { continue }
            throw CacheError(.timedOut, "the server did not take the connection in time")
        }
    }
}

func systemError(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }

/// The time until `deadline` as `poll` takes it: whole milliseconds, rounded up; an hour at the most.
func pollTimeout(until deadline: Double) -> Int32 {
    Int32(max(0, min((deadline - monotonicSeconds()) * 1000, 3_600_000)).rounded(.up))
}
