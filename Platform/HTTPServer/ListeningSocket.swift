// CMicroHTTPD as well: where a target is compiled as a whole, its header is what declares the kinds of socket.
import CMicroHTTPD
import Glibc
import Runtime

/// A bound TCP socket that listens; its `Acceptor` closes it.
struct ListeningSocket: Sendable {
    let fileDescriptor: Int32
    let port: UInt16

    init(_ address: ListenAddress) throws(HTTPServerError) {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(address.host, "\(address.port)", &hints, &found)
        guard code == 0, let found = unsafe found else {
            throw HTTPServerError(
                description: "\(address) is not an IP address and port: \(unsafe String(cString: gai_strerror(code)))")
        }
        defer { unsafe freeaddrinfo(found) }
        let info = unsafe found.pointee
        let descriptor = unsafe socket(
            info.ai_family, info.ai_socktype | Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw Self.failure("socket", address) }
        do {
            unsafe try Self.bind(descriptor, info, address)
            port = try Self.port(of: descriptor, address)
        } catch {
            close(descriptor)
            throw error
        }
        fileDescriptor = descriptor
    }

    private static func bind(
        _ descriptor: Int32, _ info: addrinfo, _ address: ListenAddress
    ) throws(HTTPServerError) {
        var on: Int32 = 1
        guard
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size)) == 0,
            unsafe Glibc.bind(descriptor, info.ai_addr, info.ai_addrlen) == 0, listen(descriptor, 1024) == 0
        else { throw failure("listen", address) }
    }

    private static func port(of descriptor: Int32, _ address: ListenAddress) throws(HTTPServerError) -> UInt16 {
        var bound = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let code = unsafe withUnsafeMutablePointer(to: &bound) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        guard code == 0 else { throw failure("getsockname", address) }
        // The port lies at the same place in both address families.
        return UInt16(bigEndian: bound.sin6_port)
    }

    private static func failure(_ step: String, _ address: ListenAddress) -> HTTPServerError {
        let code = errno
        return HTTPServerError(
            description: "cannot listen on \(address): \(step): \(unsafe String(cString: strerror(code)))")
    }
}
