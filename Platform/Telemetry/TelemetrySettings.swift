import Foundation
package import Runtime

/// Where a service's spans go, in OpenTelemetry's own variables.
package struct TelemetrySettings: Sendable {
    /// The collector's address without `/v1/traces`; `nil` exports nothing.
    let endpoint: String?
    let headers: Secret<[(name: String, value: String)]>
    let caFile: String?
    let resource: [String: String]
    let sampler: TraceSampler
}

extension Settings {
    /// `OTEL_…`, for a service whose name is `service` unless `OTEL_SERVICE_NAME` says otherwise.
    package mutating func telemetry(service: String) -> TelemetrySettings {
        let endpoint = absent(
            "OTEL_EXPORTER_OTLP_ENDPOINT", "collector that spans go to, http://HOST:4318; without it none are made",
            TelemetrySettings.endpoint)
        let headers = absent(
            "OTEL_EXPORTER_OTLP_HEADERS", "headers that the collector wants, NAME=VALUE, comma-separated"
        ) { Secret(try TelemetrySettings.pairs($0)) }
        let caFile = absent(
            "OTEL_EXPORTER_OTLP_CERTIFICATE", "authorities to trust for the collector, PEM, in place of the system's"
        ) { $0 }
        let name = optional("OTEL_SERVICE_NAME", "the service's name in traces", default: service) { $0 }
        let attributes =
            absent("OTEL_RESOURCE_ATTRIBUTES", "attributes of all spans, NAME=VALUE, comma-separated") {
                try TelemetrySettings.pairs($0)
            } ?? []
        let sampler = optional(
            "OTEL_TRACES_SAMPLER",
            "which traces are recorded: always_on, always_off, traceidratio or parentbased_ and one of these",
            default: "parentbased_always_on", TelemetrySettings.Sampler.init(rawValue:))
        let ratio = optional(
            "OTEL_TRACES_SAMPLER_ARG", "the part that traceidratio records, 0 to 1", default: "1"
        ) { text in Double(text).flatMap { (0...1).contains($0) ? $0 : nil } }
        var resource = ["service.namespace": "isthmus"]
        for (name, value) in attributes { resource[name] = value }
        resource["service.name"] = name
        return TelemetrySettings(
            endpoint: endpoint, headers: headers ?? Secret([]), caFile: caFile, resource: resource,
            sampler: sampler.made(ratio: ratio))
    }
}

extension TelemetrySettings {
    enum Sampler: String {
        case alwaysOn = "always_on"
        case alwaysOff = "always_off"
        case ratio = "traceidratio"
        case parentAlwaysOn = "parentbased_always_on"
        case parentAlwaysOff = "parentbased_always_off"
        case parentRatio = "parentbased_traceidratio"

        func made(ratio: Double) -> TraceSampler {
            switch self {
            case .alwaysOn: .always(ratio: 1)
            case .alwaysOff: .always(ratio: 0)
            case .ratio: .always(ratio: ratio)
            case .parentAlwaysOn: .parentBased(ratio: 1)
            case .parentAlwaysOff: .parentBased(ratio: 0)
            case .parentRatio: .parentBased(ratio: ratio)
            }
        }
    }

    /// A whole URL without its last slashes.
    static func endpoint(_ text: String) throws(SettingsProblem) -> String {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false,
            url.query == nil, url.fragment == nil
        else { throw SettingsProblem("expected a whole URL, http:// or https://") }
        return String(text.reversed().drop { $0 == "/" }.reversed())
    }

    /// Reads `a=1,b=2`, the values percent-encoded, as W3C Baggage has it.
    static func pairs(_ text: String) throws(SettingsProblem) -> [(name: String, value: String)] {
        var pairs: [(name: String, value: String)] = []
        for part in text.split(separator: ",") {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = sides[0].trimmingCharacters(in: .whitespaces)
            guard sides.count == 2, !name.isEmpty,
                let value = sides[1].trimmingCharacters(in: .whitespaces).removingPercentEncoding
            else { throw SettingsProblem("expected NAME=VALUE, comma-separated, values percent-encoded") }
            pairs.append((name, value))
        }
        return pairs
    }
}
