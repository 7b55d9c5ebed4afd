// swift-tools-version: 6.2
import PackageDescription

// What an iOS app takes of Isthmus: add this folder to the Xcode project as a local package. See README.md beside it.
let package = Package(
    name: "IsthmusApp",
    platforms: [.iOS("17.2")],
    products: [
        .library(name: "IslandRegistration", targets: ["IslandRegistration"]),
        .library(name: "IslandWidgets", targets: ["IslandWidgets"]),
    ],
    dependencies: [
        // Named, because a package at a path is otherwise called as its folder is, and that is up to who clones it.
        .package(name: "isthmus", path: "..")
    ],
    targets: [
        .target(
            name: "IslandRegistration",
            dependencies: [
                .product(name: "RegistrationCore", package: "isthmus"), .product(name: "Shared", package: "isthmus"),
            ]),
        .target(name: "IslandWidgets", dependencies: [.product(name: "Shared", package: "isthmus")]),
    ],
    swiftLanguageModes: [.v6]
)
