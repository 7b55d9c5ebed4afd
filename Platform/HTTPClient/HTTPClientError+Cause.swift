import CCurl

extension HTTPClientError {
    static func curl(_ code: CURLcode, _ phase: Phase) -> HTTPClientError {
        let words = unsafe String(cString: curl_easy_strerror(code))
        return HTTPClientError(
            phase: phase, code: Int32(code.rawValue), words: words, isRetryable: !lasting.contains(code.rawValue))
    }

    static func cancelled(_ phase: Phase) -> HTTPClientError {
        HTTPClientError(
            phase: phase, code: Int32(CURLE_ABORTED_BY_CALLBACK.rawValue), words: "cancelled", isRetryable: true)
    }

    static func tooLate(_ phase: Phase) -> HTTPClientError { .curl(CURLE_OPERATION_TIMEDOUT, phase) }

    static func tooLarge(_ phase: Phase) -> HTTPClientError {
        HTTPClientError(
            phase: phase, code: Int32(CURLE_FILESIZE_EXCEEDED.rawValue), words: "the answer is too large",
            isRetryable: false)
    }

    static let brokenOff = HTTPClientError.curl(CURLE_PARTIAL_FILE, .unknownOutcome)

    static let closed = HTTPClientError(
        phase: .notSent, code: Int32(CURLE_FAILED_INIT.rawValue), words: "the client is closed", isRetryable: false)

    /// Failures that come again until somebody changes a setting or the other server.
    private static let lasting: Set<UInt32> = Set(
        [
            CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT, CURLE_SSL_CACERT_BADFILE,
            CURLE_PEER_FAILED_VERIFICATION,
        ].map(\.rawValue))
}
