package import Runtime

/// Times and limits of a connection; the defaults are for production.
package struct AMQPOptions: Sendable {
    /// What we ask for; after two of them without a sign of life the connection counts as lost.
    package var heartbeat: Duration = .seconds(10)
    /// For connecting, TLS and logging in, each.
    package var connectTimeout: Duration = .seconds(5)
    /// For any one call into the library, a stuck write among them.
    package var callTimeout: Duration = .seconds(5)
    /// Between two tries to connect: endless, never in step with other processes.
    package var backoff = Backoff(base: .milliseconds(400), cap: .seconds(10))

    package init() {}
}
