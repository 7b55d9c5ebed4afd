import CMicroHTTPD
import Glibc
import Runtime

/// What happens to a request, in order: checks on the headers, the body, the handler, the answer.
///
/// Everything here runs on the connection's own thread of the library.
@safe struct RequestIntake {
    let core: ServerCore
    let exchange: Exchange
    private let handle: OpaquePointer

    init(_ core: ServerCore, _ exchange: Exchange, _ handle: OpaquePointer) {
        self.core = core
        self.exchange = exchange
        unsafe self.handle = handle
    }

    private var limits: HTTPServerLimits { core.limits }

    /// The headers are there.
    ///
    /// A refusal here keeps the library from reading the body, and closes the connection.
    func headersArrived(method: String, targetLength: Int) -> MHD_Result {
        guard !core.isClosing else { return .NO }
        exchange.progress.startedAt = monotonicSeconds()
        exchange.progress.method = method
        if let refusal = read(targetLength: targetLength) { return send(refusal, closes: true) }
        exchange.progress.step = .reading
        enterBody()
        return .YES
    }

    /// The answer that refuses the request, or `nil`.
    private func read(targetLength: Int) -> HTTPResponse? {
        guard unsafe isthmus_mhd_header_size(handle) <= limits.maxHeaderBytes else { return Self.tooManyHeaders }
        readFields()
        guard exchange.progress.fields.count <= limits.maxHeaderLines else { return Self.tooManyHeaders }
        guard exchange.progress.fields.isWellFormed else {
            return .problem(400, title: "Bad Request", detail: "A header is malformed.")
        }
        // A shorter target than its place in the request line: it has a NUL inside.
        guard let target = RequestTarget(exchange.rawTarget), exchange.rawTarget.utf8.count == targetLength else {
            return .problem(400, title: "Bad Request", detail: "The request's target is malformed.")
        }
        exchange.progress.target = target
        if let refusal = readBodyHeaders() { return refusal }
        guard core.admit(exchange) else {
            var response = HTTPResponse.problem(503, title: "Service Unavailable", detail: "Too many requests at once.")
            response.headers.append(("Retry-After", "\(limits.retryAfter.components.seconds)"))
            return response
        }
        return nil
    }

    private func readFields() {
        exchange.progress.fields.reserve(bytes: 512)
        let context = unsafe Unmanaged.passUnretained(exchange).toOpaque()
        unsafe MHD_get_connection_values_n(
            handle, .HEADER_KIND,
            { context, _, name, nameSize, value, valueSize in
                guard let context = unsafe context else { return .NO }
                let exchange = unsafe Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
                unsafe exchange.progress.fields.append(
                    name: UnsafeRawBufferPointer(start: name, count: nameSize),
                    value: UnsafeRawBufferPointer(start: value, count: valueSize))
                return .YES
            }, context)
    }

    /// RFC 9112, 6.1 and 6.3: two statements about a body's length are how requests are smuggled past a proxy.
    private func readBodyHeaders() -> HTTPResponse? {
        let fields = exchange.progress.fields
        let lengths = fields.lines(of: "Content-Length")
        guard let encoding = fields.value(of: "Transfer-Encoding") else {
            guard lengths <= 1 else { return Self.unclearLength }
            guard let text = fields.value(of: "Content-Length") else { return nil }
            guard let length = Int(text), length <= limits.maxBody else { return Self.tooLarge }
            exchange.progress.body.reserveCapacity(length)
            return nil
        }
        guard lengths == 0, encoding.lowercased() == "chunked" else { return Self.unclearLength }
        return nil
    }

    /// Part of the body is there.
    func bodyArrived(_ bytes: UnsafeRawBufferPointer) -> MHD_Result {
        guard exchange.progress.body.count + bytes.count <= limits.maxBody else {
            refuseInTheMiddle()
            return .NO
        }
        unsafe exchange.progress.body.append(contentsOf: bytes)
        enterBody()
        return .YES
    }

    /// Answers although the body is still coming.
    ///
    /// The library takes no answer then, so the words go to the socket directly. Nothing else is being sent at that
    /// time, and the connection ends here.
    private func refuseInTheMiddle() {
        let words = Array("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
        // Best effort: the client may be gone.
        _ = unsafe Glibc.send(
            exchange.connection.fileDescriptor, words, words.count,
            Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
        core.figures.countAnswer(413, after: monotonicSeconds() - exchange.progress.startedAt)
    }

    private func enterBody() {
        let progress = exchange.progress
        let seconds = limits.bodyTimeout.seconds + Double(progress.body.count) / Double(limits.minimumBodyRate)
        exchange.connection.enter(.body, until: progress.startedAt + seconds)
    }

    /// The request is whole.
    func requestArrived() -> MHD_Result {
        guard let target = exchange.progress.target else { return .NO }
        exchange.progress.step = .dispatched
        exchange.connection.enter(
            .handling, until: exchange.progress.startedAt + limits.handlerTimeout.seconds, exchange)
        let progress = exchange.progress
        exchange.progress.body = []
        exchange.progress.fields = HeaderFields()
        let request = HTTPRequest(
            method: progress.method, target: target, fields: progress.fields, body: progress.body,
            remoteAddress: exchange.connection.remoteAddress)
        core.handler(request, HTTPResponder(exchange, core))
        return answer()
    }

    /// Gives the library the answer, or suspends the connection until there is one.
    func answer() -> MHD_Result {
        let answer = unsafe exchange.answerOrSuspend(handle) { core.isClosing }
        switch answer {
        case nil: return .YES
        case .abort: return .NO
        case .response(let response): return send(response, closes: core.isDraining)
        case .stream(let stream, let status, let headers):
            return send(stream, status: status, headers: headers)
        }
    }

    private func send(_ response: HTTPResponse, closes: Bool) -> MHD_Result {
        let made = unsafe isthmus_mhd_response(response.body, response.body.count)
        guard let made = unsafe made else { return .NO }
        defer { unsafe MHD_destroy_response(made) }
        guard response.hasValidHeaders, unsafe add(response.headers, closes, to: made),
            200...599 ~= response.status
        else {
            core.log.error("an answer has a header or status that cannot be sent", ["server": core.name])
            return send(.problem(500, title: "Internal Server Error"), closes: true)
        }
        let seconds = limits.idleTimeout.seconds + Double(response.body.count) / Double(limits.minimumBodyRate)
        return unsafe queue(made, response.status, .sending, until: monotonicSeconds() + seconds)
    }

    private func send(
        _ stream: HTTPBodyStream, status: Int, headers: [(name: String, value: String)]
    ) -> MHD_Result {
        let context = unsafe Unmanaged.passRetained(stream).toOpaque()
        let made = unsafe isthmus_mhd_stream(
            streamBlock, readStream, context, releaseStream)
        guard let made = unsafe made else {
            unsafe Unmanaged<HTTPBodyStream>.fromOpaque(context).release()
            return .NO
        }
        defer { unsafe MHD_destroy_response(made) }
        guard HTTPResponse(status: status, headers: headers).hasValidHeaders,
            unsafe add(headers, true, to: made)
        else {
            core.log.error("a stream has a header that cannot be sent", ["server": core.name])
            return .NO
        }
        unsafe stream.attach(handle)
        return unsafe queue(made, status, .streaming, until: .infinity)
    }

    private func add(
        _ headers: [(name: String, value: String)], _ closes: Bool, to response: OpaquePointer
    ) -> Bool {
        // The library takes no empty values, which say as much as no header.
        for (name, value) in headers where !value.isEmpty {
            guard unsafe MHD_add_response_header(response, name, value) == .YES else { return false }
        }
        return unsafe !closes || MHD_add_response_header(response, "Connection", "close") == .YES
    }

    private func queue(
        _ response: OpaquePointer, _ status: Int, _ phase: Connection.Phase, until deadline: Double
    ) -> MHD_Result {
        exchange.progress.step = .answered
        exchange.connection.enter(phase, until: deadline, exchange)
        core.figures.countAnswer(status, after: monotonicSeconds() - exchange.progress.startedAt)
        return unsafe MHD_queue_response(handle, UInt32(status), response)
    }

    private static let tooLarge = HTTPResponse.problem(413, title: "Content Too Large")
    private static let tooManyHeaders = HTTPResponse.problem(431, title: "Request Header Fields Too Large")
    private static let unclearLength = HTTPResponse.problem(
        400, title: "Bad Request", detail: "The length of the body is stated more than once, or in an unknown way.")
}

private func releaseStream(_ context: UnsafeMutableRawPointer?) {
    if let context = unsafe context { unsafe Unmanaged<HTTPBodyStream>.fromOpaque(context).release() }
}

/// How much of a stream is handed to the library at a time.
private let streamBlock = 8192

private func readStream(
    _ context: UnsafeMutableRawPointer?, _: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int
) -> Int {
    guard let context = unsafe context, let buffer = unsafe buffer else { return isthmus_mhd_end_with_error }
    let stream = unsafe Unmanaged<HTTPBodyStream>.fromOpaque(context).takeUnretainedValue()
    return unsafe buffer.withMemoryRebound(to: UInt8.self, capacity: size) { bytes in
        unsafe stream.read(into: UnsafeMutableBufferPointer(start: bytes, count: size))
    }
}
