import Glibc

/// Asks a service on this machine whether it is alive: the health check of its container, which has no other program
/// that could ask.
package enum HealthProbe {
    private static let limit = Duration.seconds(3)
    private static let question = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    private static let goodAnswer = "HTTP/1.1 200 "

    /// What is wrong with the service whose `/healthz` is at `address`, or nothing.
    package static func finding(at address: ListenAddress) -> String? {
        guard address.port != 0 else { return "METRICS_LISTEN has port 0, so that nobody knows where to ask" }
        let descriptor = socket(address.host.contains(":") ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return "no socket: error \(errno)" }
        defer { close(descriptor) }
        // Holds for connecting, too. A timeval by its two words: its type is not to be had in every build.
        var patience = (Int(limit.seconds), 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            unsafe setsockopt(
                descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout.size(ofValue: patience)))
        }
        guard connect(descriptor, to: address) else { return "nobody answers at \(address): error \(errno)" }
        guard unsafe send(descriptor, question, question.utf8.count, Int32(MSG_NOSIGNAL)) == question.utf8.count
        else { return "\(address) does not take the question: error \(errno)" }
        let answer = beginning(descriptor)
        guard answer != goodAnswer else { return nil }
        return answer.isEmpty ? "\(address) does not answer" : "\(address) answers \(answer)"
    }

    /// As much of the answer as tells whether it is a good one.
    private static func beginning(_ descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        let deadline = monotonicSeconds() + limit.seconds
        while bytes.count < goodAnswer.utf8.count, monotonicSeconds() < deadline {
            var more = [UInt8](repeating: 0, count: goodAnswer.utf8.count - bytes.count)
            let count = unsafe recv(descriptor, &more, more.count, 0)
            guard count > 0 else { break }
            bytes += more[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func connect(_ descriptor: Int32, to address: ListenAddress) -> Bool {
        let port = address.port.bigEndian
        if address.host.contains(":") {
            var to = sockaddr_in6()
            to.sin6_family = sa_family_t(AF_INET6)
            to.sin6_port = port
            guard unsafe inet_pton(AF_INET6, address.host == "::" ? "::1" : address.host, &to.sin6_addr) == 1 else {
                return false
            }
            return connect(descriptor, &to)
        }
        var to = sockaddr_in()
        to.sin_family = sa_family_t(AF_INET)
        to.sin_port = port
        guard unsafe inet_pton(AF_INET, address.host == "0.0.0.0" ? "127.0.0.1" : address.host, &to.sin_addr) == 1
        else { return false }
        return connect(descriptor, &to)
    }

    private static func connect<Address>(_ descriptor: Int32, _ address: inout Address) -> Bool {
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size)) == 0
            }
        }
    }
}
