import Runtime
import Testing

@testable import Telemetry

@Suite struct `Telemetry settings` {
    private func read(_ environment: [String: String]) -> (settings: TelemetrySettings, problems: [String]) {
        var reader = Settings(environment)
        let settings = reader.telemetry(service: "agent")
        return (settings, reader.problems)
    }

    @Test func `nothing is exported unless a collector is named`() {
        let (settings, problems) = read([:])
        #expect(settings.endpoint == nil && problems.isEmpty)
        #expect(settings.sampler == .parentBased(ratio: 1))
        #expect(settings.resource == ["service.name": "agent", "service.namespace": "isthmus"])
    }

    @Test func `OpenTelemetry's variables are read as its specification has them`() {
        let (settings, problems) = read([
            "OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector:4318/base/",
            "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b, x = y=z",
            "OTEL_SERVICE_NAME": "coach-agent", "OTEL_TRACES_SAMPLER": "parentbased_traceidratio",
            "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=prod,service.name=not-this,service.namespace=us",
            "OTEL_TRACES_SAMPLER_ARG": "0.25",
        ])
        #expect(problems.isEmpty)
        #expect(settings.endpoint == "https://collector:4318/base")
        #expect(settings.headers.reveal().map { "\($0.name):\($0.value)" } == ["api-key:a b", "x:y=z"])
        #expect(settings.sampler == .parentBased(ratio: 0.25))
        #expect(
            settings.resource == [
                "service.name": "coach-agent", "service.namespace": "us", "deployment.environment.name": "prod",
            ])
    }

    @Test(arguments: [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://collector:4317"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "just-a-secret"), ("OTEL_TRACES_SAMPLER", "jaeger_remote"),
        ("OTEL_TRACES_SAMPLER_ARG", "1.5"), ("OTEL_RESOURCE_ATTRIBUTES", "just-a-name"),
    ])
    func `a value that is not understood is named, and not repeated`(_ name: String, _ value: String) {
        let problems = read([name: value]).problems
        #expect(problems.count == 1)
        #expect(problems[0].hasPrefix(name) && !problems[0].contains(value))
    }
}
