public import Foundation
public import Shared

/// Which of Apple's two push services this build's tokens are good for.
public enum PushEnvironment {
    /// Reads the app's provisioning profile.
    ///
    /// A build from the App Store carries none and uses the production service; so does TestFlight, whose profile says so.
    public static func ofThisApp(_ bundle: Bundle = .main) -> APNSEnvironment? {
        #if targetEnvironment(simulator)
            return .sandbox
        #else
            return ofProfile(in: bundle)
        #endif
    }

    private static func ofProfile(in bundle: Bundle) -> APNSEnvironment? {
        guard let url = bundle.url(forResource: "embedded", withExtension: "mobileprovision") else {
            return .production
        }
        // A profile that cannot be read says nothing, and the registry finds out by trying.
        return (try? Data(contentsOf: url)).flatMap(read(profile:))
    }

    /// The profile is a signed message with a property list in the clear.
    static func read(profile: Data) -> APNSEnvironment? {
        guard let key = profile.range(of: Data("<key>aps-environment</key>".utf8)),
            let start = profile.range(of: Data("<string>".utf8), in: key.upperBound..<profile.endIndex),
            let end = profile.range(of: Data("</string>".utf8), in: start.upperBound..<profile.endIndex)
        else { return nil }
        switch String(decoding: profile[start.upperBound..<end.lowerBound], as: UTF8.self) {
        case "development": return .sandbox
        case "production": return .production
        default: return nil
        }
    }
}
