extension Settings {
    /// `LOG_LEVEL`, which every service has.
    package mutating func logLevel() -> Log.Level {
        optional("LOG_LEVEL", "debug, info, warning or error", default: "info", Log.Level.init(rawValue:))
    }

    /// `METRICS_LISTEN`: `/healthz`, `/readyz` and `/metrics`.
    package mutating func metricsListen(default fallback: String) -> ListenAddress {
        optional(
            "METRICS_LISTEN", "where /healthz, /readyz and /metrics are, ADDRESS:PORT", default: fallback,
            ListenAddress.init)
    }

    /// A length of time such as `SESSION_IDLE`.
    package mutating func duration(_ name: String, _ help: String, default fallback: String) -> Duration {
        optional(name, "\(help); 90s, 15m, 8h", default: fallback) { Duration($0) }
    }

    /// A setting that is `on` or `off`.
    package mutating func flag(_ name: String, _ help: String, default fallback: Bool) -> Bool {
        optional(name, "\(help); on or off", default: fallback ? "on" : "off") { text in
            switch text {
            case "on": true
            case "off": false
            default: nil
            }
        }
    }
}
