// What the code in App/README.md uses of Apple's UIKit, likewise.
@_exported public import Foundation

@MainActor
open class UIApplication: NSObject {
    public struct LaunchOptionsKey: Hashable, Sendable {}
}

@MainActor
public protocol UIApplicationDelegate: NSObjectProtocol {
    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    func applicationDidBecomeActive(_ application: UIApplication)
    func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void)
}

extension URL {
    /// Apple's Foundation has it; the one for Linux has not.
    public static var applicationSupportDirectory: URL { preconditionFailure("stubs are type-checked, never run") }
}
