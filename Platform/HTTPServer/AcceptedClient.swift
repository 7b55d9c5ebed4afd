import CMicroHTTPD
import Glibc

/// A connection that nobody serves yet, and where it comes from.
struct AcceptedClient {
    struct AcceptError: Error, CustomStringConvertible {
        let code: Int32

        var description: String { unsafe String(cString: strerror(code)) }
    }

    let fileDescriptor: Int32
    let address: sockaddr_storage
    let addressSize: socklen_t

    /// The next connection in the listening socket's queue; it does not block, and child processes do not inherit it.
    static func accept(from listener: Int32) -> Result<AcceptedClient, AcceptError> {
        var address = sockaddr_storage()
        var size: socklen_t = 0
        let descriptor = unsafe isthmus_mhd_accept(listener, &address, &size)
        guard descriptor >= 0 else { return .failure(AcceptError(code: errno)) }
        return .success(AcceptedClient(fileDescriptor: descriptor, address: address, addressSize: size))
    }

    /// The IP address alone.
    var addressText: String {
        var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let code = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe getnameinfo(
                    pointer, addressSize, &buffer, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST)
            }
        }
        guard code == 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
