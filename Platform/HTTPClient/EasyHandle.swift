import CCurl
import Runtime

/// What every transfer of a client has in common.
struct TransferSettings: Sendable {
    let connectTimeout: Duration
    let caFile: String?
    let userAgent: String
}

/// A libcurl easy handle, used and freed by the client's thread alone.
@safe final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    /// What the transfer is for; kept alive as long as libcurl may call back.
    private(set) var transfer: Transfer?
    private var headers: UnsafeMutablePointer<curl_slist>?

    init?() {
        guard let made = unsafe curl_easy_init() else { return nil }
        unsafe pointer = made
    }

    deinit {
        unsafe curl_slist_free_all(headers)
        unsafe curl_easy_cleanup(pointer)
    }

    /// Forgets the transfer; open connections belong to the multi handle and stay.
    func reset() {
        unsafe curl_easy_reset(pointer)
        unsafe curl_slist_free_all(headers)
        unsafe headers = nil
        transfer = nil
    }

    /// What a failure means: bytes of the request count from the first of its headers.
    var phase: HTTPClientError.Phase {
        unsafe isthmus_curl_long(pointer, CURLINFO_REQUEST_SIZE) > 0 ? .unknownOutcome : .notSent
    }

    var status: Int { unsafe isthmus_curl_long(pointer, CURLINFO_RESPONSE_CODE) }

    /// Sets everything for `transfer`, which is kept until the handle is reset.
    func prepare(_ transfer: Transfer, _ settings: TransferSettings, remaining: Double) -> CURLcode {
        let request = transfer.request
        self.transfer = transfer
        guard request.isValid else { return CURLE_BAD_FUNCTION_ARGUMENT }
        let codes = unsafe [
            isthmus_curl_set_text(pointer, CURLOPT_URL, request.url),
            isthmus_curl_set_text(pointer, CURLOPT_PROTOCOLS_STR, "http,https"),
            // Proxies come from the environment otherwise.
            isthmus_curl_set_text(pointer, CURLOPT_PROXY, ""),
            isthmus_curl_set_text(pointer, CURLOPT_USERAGENT, settings.userAgent),
            isthmus_curl_set_long(pointer, CURLOPT_NOSIGNAL, 1),
            isthmus_curl_set_long(pointer, CURLOPT_FOLLOWLOCATION, 0),
            isthmus_curl_set_long(pointer, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
            isthmus_curl_set_long(pointer, CURLOPT_TCP_KEEPALIVE, 1),
            isthmus_curl_set_long(pointer, CURLOPT_CONNECTTIMEOUT_MS, Int(settings.connectTimeout.milliseconds)),
            isthmus_curl_set_long(pointer, CURLOPT_TIMEOUT_MS, max(Int(remaining * 1000), 1)),
            isthmus_curl_set_long(pointer, CURLOPT_SSL_VERIFYPEER, 1),
            isthmus_curl_set_long(pointer, CURLOPT_SSL_VERIFYHOST, 2),
            isthmus_curl_set_long(pointer, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            settings.caFile.map { unsafe isthmus_curl_set_text(pointer, CURLOPT_CAINFO, $0) } ?? CURLE_OK,
            isthmus_curl_set_callbacks(
                pointer, onHeader, onBody, onRead, Unmanaged.passUnretained(transfer).toOpaque()),
            setMethod(request),
            setHeaders(request),
        ]
        return codes.first { $0 != CURLE_OK } ?? CURLE_OK
    }

    private func setMethod(_ request: HTTPClientRequest) -> CURLcode {
        switch request.method {
        case "GET" where request.body.isEmpty: return unsafe isthmus_curl_set_long(pointer, CURLOPT_HTTPGET, 1)
        case "HEAD": return unsafe isthmus_curl_set_long(pointer, CURLOPT_NOBODY, 1)
        default:
            // The body is read by a callback that cannot rewind: handed over whole, libcurl would send it again by
            // itself when a kept connection ends without an answer, even if the request had been processed.
            let codes = unsafe [
                isthmus_curl_set_body_size(pointer, request.body.count),
                isthmus_curl_set_text(pointer, CURLOPT_CUSTOMREQUEST, request.method),
            ]
            return codes.first { $0 != CURLE_OK } ?? CURLE_OK
        }
    }

    private func setHeaders(_ request: HTTPClientRequest) -> CURLcode {
        // "Expect:" without a value: do not wait for 100 Continue before a large body.
        var lines = ["Expect:"]
        if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            lines.append("Content-Type:")
        }
        // libcurl's sign for a header that is there but empty is a semicolon.
        lines += request.headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        for line in lines {
            guard let list = unsafe curl_slist_append(headers, line) else { return CURLE_OUT_OF_MEMORY }
            unsafe headers = list
        }
        return unsafe isthmus_curl_set_pointer(pointer, CURLOPT_HTTPHEADER, headers)
    }
}

extension HTTPClientRequest {
    /// A line end in a method or header would let its author write headers of their own.
    fileprivate var isValid: Bool {
        !method.isEmpty && method.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            && headers.allSatisfy { name, value in
                !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
                    && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
            }
    }
}

private func transfer(_ context: UnsafeMutableRawPointer) -> Transfer {
    unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
}

private func onHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer(context).receiveHeader(line) ? size * count : 0
}

private func onBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    let part = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer(context).receiveBody(part) ? size * count : 0
}

private func onRead(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    return unsafe transfer(context).sendBody(into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
}
