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
    /// Who waits; there before the transfer is started.
    var continuation: CheckedContinuation<Outcome, Never>?
    var isCancelled = false
    private(set) var isTooLarge = false
    /// Whether the empty line after the headers has come: libcurl takes headers that break off for an answer.
    private var hasWholeHead = false
    private var response = HTTPClientResponse(status: 0)
    private var headerBytes = 0

    init(_ request: HTTPClientRequest, deadline: Double, bodyLimit: Int) {
        self.request = request
        self.deadline = deadline
        self.bodyLimit = bodyLimit
    }

    func succeed(status: Int) {
        guard hasWholeHead else { return fail(.brokenOff) }
        response.status = status
        continuation?.resume(returning: .success(response))
    }

    func fail(_ error: HTTPClientError) { continuation?.resume(returning: .failure(error)) }

    /// Takes a line of the answer's head; false ends the transfer.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        headerBytes += line.count
        guard headerBytes <= Self.headerLimit else {
            isTooLarge = true
            return false
        }
        let content = unsafe line.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        if unsafe content.isEmpty {
            hasWholeHead = true
        } else if unsafe content.starts(with: "HTTP/".utf8) {
            // An interim answer (100 Continue) may have come before this one.
            response.headers = []
            hasWholeHead = false
        } else if let colon = unsafe content.firstIndex(of: UInt8(ascii: ":")) {
            let value = unsafe content[(colon + 1)...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            unsafe response.headers.append((Self.lowercased(content[..<colon]), String(decoding: value, as: UTF8.self)))
        }
        return true
    }

    private static func lowercased(_ name: Slice<UnsafeRawBufferPointer>) -> String {
        unsafe String(unsafeUninitializedCapacity: name.count) { buffer in
            for index in unsafe 0..<name.count {
                let byte = unsafe name[name.startIndex + index]
                unsafe buffer[index] = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
            }
            return unsafe name.count
        }
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

    /// Bytes of an answer's headers.
    private static let headerLimit = 64 << 10
}
