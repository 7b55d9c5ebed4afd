import CCurl
import Runtime

/// What every transfer of a client has in common.
struct TransferSettings: Sendable {
    let connectTimeout: Duration
    let caFile: String?
    let userAgent: String
}

/// A libcurl easy handle, used and freed by the client's thread alone.
///
/// What all transfers have in common is set once; each transfer sets all that it may have different from the one before.
@safe final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    /// What the transfer is for; kept alive as long as libcurl may call back.
    private(set) var transfer: Transfer?
    private let headers = HeaderList()
    /// Whether the request may have been sent: until then, libcurl's figures are those of the transfer before.
    private var hasBegun = false
    /// Whether libcurl was kept from sending the request once more.
    private var isHeldBack = false

    init?(_ settings: TransferSettings) {
        guard let made = unsafe curl_easy_init() else { return nil }
        unsafe pointer = made
        guard set(settings) == CURLE_OK else { return nil }
    }

    deinit { unsafe curl_easy_cleanup(pointer) }

    private func set(_ settings: TransferSettings) -> CURLcode {
        let codes = unsafe [
            isthmus_curl_set_text(pointer, CURLOPT_PROTOCOLS_STR, "http,https"),
            // Proxies come from the environment otherwise.
            isthmus_curl_set_text(pointer, CURLOPT_PROXY, ""),
            isthmus_curl_set_text(pointer, CURLOPT_NOPROXY, "*"),
            isthmus_curl_set_text(pointer, CURLOPT_USERAGENT, settings.userAgent),
            isthmus_curl_set_long(pointer, CURLOPT_NOSIGNAL, 1),
            isthmus_curl_set_long(pointer, CURLOPT_FOLLOWLOCATION, 0),
            isthmus_curl_set_long(pointer, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
            isthmus_curl_set_long(pointer, CURLOPT_TCP_KEEPALIVE, 1),
            isthmus_curl_set_long(pointer, CURLOPT_CONNECTTIMEOUT_MS, Int(settings.connectTimeout.milliseconds)),
            isthmus_curl_set_long(pointer, CURLOPT_SSL_VERIFYPEER, 1),
            isthmus_curl_set_long(pointer, CURLOPT_SSL_VERIFYHOST, 2),
            isthmus_curl_set_long(pointer, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            settings.caFile.map { unsafe isthmus_curl_set_text(pointer, CURLOPT_CAINFO, $0) } ?? CURLE_OK,
            isthmus_curl_set_callbacks(
                pointer, onHeader, onBody, onBegin, Unmanaged.passUnretained(self).toOpaque()),
        ]
        return codes.first { $0 != CURLE_OK } ?? CURLE_OK
    }

    /// Forgets the transfer; open connections belong to the multi handle and stay.
    func reset() {
        unsafe isthmus_curl_set_pointer(pointer, CURLOPT_COPYPOSTFIELDS, nil)
        transfer = nil
    }

    /// What a failure means: bytes of the request count from the first of its headers.
    var phase: HTTPClientError.Phase { hasSent ? .unknownOutcome : .notSent }

    private var hasSent: Bool { unsafe hasBegun && isthmus_curl_long(pointer, CURLINFO_REQUEST_SIZE) > 0 }

    /// The answer's status, or why there is none, by libcurl's result.
    func outcome(_ code: CURLcode) -> Result<Int, HTTPClientError> {
        if code == CURLE_OK { return .success(unsafe isthmus_curl_long(pointer, CURLINFO_RESPONSE_CODE)) }
        if transfer?.isTooLarge == true { return .failure(.tooLarge(phase)) }
        // What happened, and not how it came to libcurl.
        return .failure(.curl(isHeldBack ? CURLE_GOT_NOTHING : code, phase))
    }

    /// Sets everything for `transfer`, which is kept until the handle is reset.
    func prepare(_ transfer: Transfer) -> CURLcode {
        let request = transfer.request
        self.transfer = transfer
        hasBegun = false
        isHeldBack = false
        guard request.isValid else { return CURLE_BAD_FUNCTION_ARGUMENT }
        var code = unsafe isthmus_curl_set_text(pointer, CURLOPT_URL, request.url)
        if code == CURLE_OK { code = setMethod(request) }
        if code == CURLE_OK {
            code = unsafe isthmus_curl_set_pointer(pointer, CURLOPT_HTTPHEADER, headers.fill(request.headers))
        }
        return code
    }

    private func setMethod(_ request: HTTPClientRequest) -> CURLcode {
        var name: String?
        var code: CURLcode
        switch request.method {
        case "GET" where request.body.isEmpty: code = unsafe isthmus_curl_set_long(pointer, CURLOPT_HTTPGET, 1)
        case "HEAD": code = unsafe isthmus_curl_set_long(pointer, CURLOPT_NOBODY, 1)
        default:
            code = unsafe request.body.withUnsafeBytes {
                unsafe isthmus_curl_set_body(pointer, $0.baseAddress, $0.count)
            }
            if request.method != "POST" { name = request.method }
        }
        guard code == CURLE_OK else { return code }
        return unsafe isthmus_curl_set_text(pointer, CURLOPT_CUSTOMREQUEST, name)
    }

    /// Whether libcurl may send the request, which it is about to do.
    ///
    /// When a kept connection ends without an answer, libcurl sends the request again by itself, even if it had been
    /// processed. Only what cannot have arrived and what changes nothing may be sent again.
    fileprivate func begin() -> Bool {
        isHeldBack = hasSent && transfer?.request.changesNothing != true
        hasBegun = true
        return !isHeldBack
    }
}

extension HTTPClientRequest {
    fileprivate var changesNothing: Bool { (method == "GET" || method == "HEAD") && body.isEmpty }

    /// A line end in a method or header would let its author write headers of their own.
    fileprivate var isValid: Bool {
        !method.isEmpty && method.hasOnly { $0 > 0x20 && $0 < 0x7F }
            && headers.allSatisfy { name, value in
                !name.isEmpty && name.hasOnly { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
                    && value.hasOnly { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
            }
    }
}

extension String {
    /// Whether all bytes are good; over the memory as it lies, several times faster than `utf8.allSatisfy`.
    fileprivate func hasOnly(_ isGood: (UInt8) -> Bool) -> Bool {
        unsafe utf8.withContiguousStorageIfAvailable { unsafe $0.allSatisfy(isGood) } ?? utf8.allSatisfy(isGood)
    }
}

private func handle(_ context: UnsafeMutableRawPointer) -> EasyHandle {
    unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
}

private func onHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context, let transfer = unsafe handle(context).transfer else { return 0 }
    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer.receiveHeader(line) ? size * count : 0
}

private func onBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context, let transfer = unsafe handle(context).transfer else { return 0 }
    let part = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer.receiveBody(part) ? size * count : 0
}

private func onBegin(
    _ context: UnsafeMutableRawPointer?, _ theirs: UnsafeMutablePointer<CChar>?, _ ours: UnsafeMutablePointer<CChar>?,
    _ theirPort: Int32, _ ourPort: Int32
) -> Int32 {
    guard let context = unsafe context else { return CURL_PREREQFUNC_ABORT }
    return unsafe handle(context).begin() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}
