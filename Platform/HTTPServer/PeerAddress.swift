import CMicroHTTPD
import Glibc

/// The IP address in a socket address, as text.
func text(of address: UnsafePointer<sockaddr>?) -> String {
    guard let address = unsafe address else { return "" }
    var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let size =
        unsafe address.pointee.sa_family == sa_family_t(AF_INET6)
        ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
    let code = unsafe getnameinfo(
        address, socklen_t(size), &buffer, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST)
    guard code == 0 else { return "" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
