import Glibc

/// An address that a socket can be connected or bound to.
struct SocketAddress: Sendable, CustomStringConvertible {
    let family: Int32
    private let bytes: [UInt8]

    /// Asks the resolver, which may block for many seconds unless `host` is an address already.
    ///
    /// - Parameter isNumeric: `host` must be an address; nobody is asked.
    static func resolve(_ host: String, port: UInt16, isNumeric: Bool = false) -> Result<[SocketAddress], ConnectionEnd>
    {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_NUMERICSERV | (isNumeric ? AI_NUMERICHOST : AI_ADDRCONFIG)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(host, "\(port)", &hints, &list)
        guard status == 0 else {
            return .failure(ConnectionEnd(reason: "\(host): \(unsafe String(cString: gai_strerror(status)))"))
        }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            let bytes = unsafe UnsafeRawBufferPointer(
                start: entry.pointee.ai_addr, count: Int(entry.pointee.ai_addrlen))
            unsafe addresses.append(SocketAddress(family: entry.pointee.ai_family, bytes: Array(bytes)))
            unsafe next = entry.pointee.ai_next
        }
        return .success(addresses)
    }

    /// The address and its length as the socket calls take it.
    func withPointer<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R? {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe bytes.baseAddress.map {
                unsafe body($0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
            }
        }
    }

    var description: String {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let size = socklen_t(text.count)
        let status = unsafe withPointer { unsafe getnameinfo($0, $1, &text, size, nil, 0, NI_NUMERICHOST) }
        guard status == 0 else { return "?" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
