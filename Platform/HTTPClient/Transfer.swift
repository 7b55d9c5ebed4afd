import Runtime

/// One request on its way.
///
/// Sendable is right although unchecked: after it was posted, the client's thread alone uses what is `var`.
final class Transfer: @unchecked Sendable {
    typealias Outcome = Result<HTTPClientResponse, HTTPClientError>

    let request: HTTPClientRequest
    /// On the clock of `monotonicSeconds()`.
    let deadline: Double
    private let bodyLimit: Int
    private let completion: @Sendable (Outcome) -> Void

    var isCancelled = false
    private(set) var isTooLarge = false
    /// Whether the empty line after the headers has come: libcurl takes headers that break off for an answer.
    private var hasWholeHead = false
    private var response = HTTPClientResponse(status: 0)
    private var headerBytes = 0
    private var sent = 0

    init(
        _ request: HTTPClientRequest, deadline: Double, bodyLimit: Int,
        completion: @escaping @Sendable (Outcome) -> Void
    ) {
        self.request = request
        self.deadline = deadline
        self.bodyLimit = bodyLimit
        self.completion = completion
    }

    func succeed(status: Int) {
        guard hasWholeHead else { return completion(.failure(.brokenOff)) }
        response.status = status
        completion(.success(response))
    }

    func fail(_ error: HTTPClientError) { completion(.failure(error)) }

    /// Takes a line of the answer's head; false ends the transfer.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        headerBytes += line.count
        guard headerBytes <= Self.headerLimit else {
            isTooLarge = true
            return false
        }
        let text = unsafe String(decoding: line, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            // An interim answer (100 Continue) may have come before this one.
            response.headers = []
            hasWholeHead = false
        } else if text == "\r\n" || text == "\n" {
            hasWholeHead = true
        } else if let colon = text.firstIndex(of: ":") {
            let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            response.headers.append((text[..<colon].lowercased(), String(value.prefix { !$0.isNewline })))
        }
        return true
    }

    /// Takes a part of the answer's body; false ends the transfer.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard response.body.count + bytes.count <= bodyLimit else {
            isTooLarge = true
            return false
        }
        unsafe response.body.append(contentsOf: bytes)
        return true
    }

    /// Gives the next part of the request's body.
    func sendBody(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, request.body.count - sent)
        unsafe buffer.copyBytes(from: request.body[sent..<sent + count])
        sent += count
        return count
    }

    /// Bytes of an answer's headers.
    private static let headerLimit = 64 << 10
}
