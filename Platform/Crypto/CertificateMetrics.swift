package import Runtime

extension Metrics {
    /// Until when the certificate of the server holds that `client` has connected to.
    package func certificateNotAfter(client: String) -> Gauge {
        gauge(
            "isthmus_tls_certificate_not_after_seconds",
            "Until when the server's certificate holds, seconds since 1970; 0 before the first connection.",
            ["client": client])
    }
}
