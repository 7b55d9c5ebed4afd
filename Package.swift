// swift-tools-version: 6.2
import PackageDescription

// Every target is compiled in the Swift 6 language mode with these settings; a warning is an error.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

// A target that calls a C library also has to mark each unsafe expression as `unsafe`.
let wrapsC = strict + [.strictMemorySafety()]

func cLibrary(_ name: String, pkgConfig: String, apt: String) -> Target {
    .systemLibrary(name: name, path: "Platform/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

func platform(_ name: String, _ dependencies: [Target.Dependency] = [], settings: [SwiftSetting] = strict) -> Target {
    .target(name: name, dependencies: dependencies, path: "Platform/\(name)", swiftSettings: settings)
}

/// Makes this the package of `scripts/fuzz`: what is read from outside under libFuzzer, and nothing else.
let isFuzzing = Context.environment["ISTHMUS_FUZZ"] != nil

func service(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target {
    guard !isFuzzing else { return fuzzed(name, dependencies, resources: resources) }
    return .executableTarget(
        name: name, dependencies: dependencies + ["Runtime", "Shared"], path: "Services/\(name)", resources: resources,
        swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource]? = nil) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["Runtime", "TestSupport"], path: "Tests/\(name)",
        resources: resources,
        swiftSettings: strict)
}

let package = Package(
    name: "isthmus",
    platforms: [.iOS("17.2"), .macOS(.v15)],
    products: [
        .library(name: "Shared", targets: ["Shared"]),
        // For the app alone, as the package in App/ takes it from here: built and tested with the rest.
        .library(name: "RegistrationCore", targets: ["RegistrationCore"]),
        .executable(name: "ingress", targets: ["Ingress"]),
        .executable(name: "agent", targets: ["Agent"]),
        .executable(name: "linq-sender", targets: ["LinqSender"]),
        .executable(name: "apns-pusher", targets: ["APNSPusher"]),
        .executable(name: "token-registry", targets: ["TokenRegistry"]),
        .executable(name: "simulator", targets: ["Simulator"]),
        .executable(name: "islandctl", targets: ["IslandCtl"]),
        .executable(name: "isthmus-parked", targets: ["Parked"]),
    ],
    targets: [
        // What crosses the queues and what crosses to the widget. Foundation alone: the app imports it too.
        .target(name: "Shared", path: "Shared", swiftSettings: strict),

        // The app's side of the registry, as far as it needs no iPhone.
        .target(
            name: "RegistrationCore", dependencies: ["Shared"], path: "App/RegistrationCore", swiftSettings: strict),

        // C libraries, each imported by the one target named after it.
        .systemLibrary(name: "CLinux", path: "Platform/C/CLinux"),
        cLibrary("CRabbitMQ", pkgConfig: "librabbitmq", apt: "librabbitmq-dev"),
        cLibrary("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
        cLibrary("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
        // Without pkg-config: its entry has a flag that the package manager warns of, and nothing that is needed.
        .systemLibrary(name: "CHiredis", path: "Platform/C/CHiredis", providers: [.apt(["libhiredis-dev"])]),
        cLibrary("CNGHTTP2", pkgConfig: "libnghttp2", apt: "libnghttp2-dev"),
        cLibrary("CMicroHTTPD", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev"),
        cLibrary("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
        cLibrary("CPostgreSQL", pkgConfig: "libpq", apt: "libpq-dev"),

        platform("Runtime", ["CLinux"], settings: wrapsC),
        platform("Crypto", ["COpenSSL", "Runtime"], settings: wrapsC),
        platform("AMQP", ["CRabbitMQ", "Crypto", "Runtime", "Shared"], settings: wrapsC),
        platform("HTTPServer", ["CMicroHTTPD", "Runtime"], settings: wrapsC),
        platform("HTTPClient", ["CCurl", "Runtime"], settings: wrapsC),
        platform("HTTP2", ["CNGHTTP2", "Crypto", "Runtime"], settings: wrapsC),
        platform("Cache", ["CHiredis", "Crypto", "Runtime"], settings: wrapsC),
        platform("Database", ["CSQLite", "CPostgreSQL", "Crypto", "Runtime"], settings: wrapsC),
        platform("Stage", ["AMQP", "HTTPServer", "Runtime", "Shared"]),
        platform("Telemetry", ["HTTPClient", "Runtime"]),

        .target(
            name: "RegistryClient", dependencies: ["AMQP", "Cache", "Crypto", "Runtime", "Shared"],
            path: "Services/RegistryClient", swiftSettings: strict),
        .target(
            name: "APNSClient", dependencies: ["Crypto", "HTTP2", "Runtime", "Shared"], path: "Services/APNSClient",
            swiftSettings: strict),
        service("Ingress", ["AMQP", "Crypto", "HTTPServer", "RegistryClient", "Stage", "Telemetry"]),
        service(
            "Agent",
            [
                "AMQP", "Cache", "Crypto", "Database", "HTTPClient", "HTTPServer", "RegistryClient", "Stage",
                "Telemetry",
            ]),
        service("LinqSender", ["AMQP", "HTTPClient", "HTTPServer", "Stage", "Telemetry"]),
        service(
            "APNSPusher",
            [
                "AMQP", "APNSClient", "Cache", "Crypto", "HTTP2", "HTTPServer", "RegistryClient", "Stage", "Telemetry",
            ]),
        service(
            "TokenRegistry", ["AMQP", "Cache", "Crypto", "Database", "HTTPServer", "RegistryClient", "Telemetry"],
            resources: [.embedInCode("OpenAPI")]),
        service(
            "Simulator", ["Crypto", "HTTP2", "HTTPClient", "HTTPServer"],
            resources: [.embedInCode("Page")]),
        service("IslandCtl", ["AMQP", "APNSClient", "Cache", "Crypto", "Database", "HTTP2", "HTTPClient"]),
        service("Parked", ["AMQP"]),

        // What `make bench` drives the services with.
        .executableTarget(
            name: "Load",
            dependencies: [
                "AMQP", "Cache", "CRabbitMQ", "Crypto", "Database", "HTTP2", "HTTPClient", "RegistryClient", "Runtime",
                "Shared",
            ],
            path: "Benchmarks/Load", swiftSettings: strict),

        .target(
            name: "TestSupport", dependencies: ["Runtime", "Shared"], path: "Tests/TestSupport", swiftSettings: strict),
        tests("SharedTests", ["Shared"], resources: [.copy("Fixtures")]),
        tests("RuntimeTests"),
        tests("CryptoTests", ["Crypto"]),
        tests("AMQPTests", ["AMQP", "Shared"]),
        tests("HTTPServerTests", ["HTTPServer"]),
        tests("HTTPClientTests", ["HTTPClient", "HTTPServer"]),
        tests("HTTP2Tests", ["HTTP2", "Crypto"]),
        tests("CacheTests", ["Cache", "Crypto"]),
        tests("DatabaseTests", ["Database"]),
        tests("TelemetryTests", ["Telemetry", "HTTPServer"]),
        tests("StageTests", ["Stage", "AMQP", "Shared"]),
        tests(
            "IngressTests",
            ["Ingress", "Crypto", "Shared", "HTTPServer", "HTTPClient", "AMQP", "RegistryClient", "Stage"]),
        tests("IslandCtlTests", ["IslandCtl", "Shared"]),
        tests("ParkedTests", ["Parked", "Shared", "AMQP"]),
        tests("AgentTests", ["Agent", "Shared", "Database", "Crypto", "HTTPServer", "HTTPClient"]),
        tests("LinqSenderTests", ["LinqSender", "Shared", "HTTPClient", "HTTPServer"]),
        tests("APNSPusherTests", ["APNSClient", "APNSPusher", "Shared", "Crypto", "HTTP2"]),
        tests(
            "TokenRegistryTests",
            ["TokenRegistry", "RegistryClient", "Shared", "AMQP", "Cache", "Crypto", "Database", "HTTPServer"]),
        tests("SimulatorTests", ["Simulator", "Shared", "Crypto", "HTTP2", "HTTPServer", "HTTPClient"]),
        tests(
            "AppTests", ["RegistrationCore", "TokenRegistry", "Shared", "Crypto", "HTTPServer", "HTTPClient"],
            resources: [.copy("Stubs")]),
        tests(
            "LifecycleTests",
            [
                "Agent", "APNSClient", "APNSPusher", "TokenRegistry", "RegistryClient", "Simulator", "Stage", "HTTP2",
                "Shared", "Crypto",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

/// A service as a library, which only an executable of tests could import otherwise; its `main` gets out of the way.
func fuzzed(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource]?) -> Target {
    .target(
        name: name, dependencies: dependencies + ["Runtime", "Shared"], path: "Services/\(name)", resources: resources,
        swiftSettings: strict + [
            .unsafeFlags(["-Xfrontend", "-entry-point-function-name", "-Xfrontend", "\(name)_main"])
        ])
}

if isFuzzing {
    package.targets += [
        .systemLibrary(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
        .executableTarget(
            name: "Fuzz",
            dependencies: ["CFuzzer", "Ingress", "TokenRegistry", "HTTP2", "HTTPServer", "Crypto", "Shared"],
            path: "Tests/Fuzz/Targets", swiftSettings: [.unsafeFlags(["-parse-as-library"])],
            // gold, the usual linker, crashes over these.
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]),
    ]
    keep(["Fuzz"], of: package)
}

// What ./test builds once more for the thread and the address sanitizer is these targets, and not everything.
if let only = Context.environment["ISTHMUS_TESTS"] {
    keep(only.split(separator: " ").map(String.init), of: package)
}

/// Leaves these targets, what they need, and nothing else.
func keep(_ names: [String], of package: Package) {
    var needed: Set<String> = []
    var open = names
    while let name = open.popLast() {
        guard needed.insert(name).inserted else { continue }
        for dependency in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
            if case .byNameItem(let name, _) = dependency { open.append(name) }
        }
    }
    package.products = []
    package.targets.removeAll { !needed.contains($0.name) }
}
