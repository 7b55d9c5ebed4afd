import CFuzzer
import Foundation

/// What is read from outside, with whatever libFuzzer makes up: `FUZZ_TARGET` names one of these.
///
/// A target crashes where a promise is broken: that bytes are read or refused, and what was read means the same when it is
/// written and read again.
private let targets: [String: @Sendable ([UInt8]) -> Void] = [
    "webhook": fuzzWebhook, "signature": fuzzSignature, "registry": fuzzRegistry, "wire": fuzzWire,
    "http2": fuzzHTTP2,
]

private let target: @Sendable ([UInt8]) -> Void = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    guard let target = targets[name] else {
        FileHandle.standardError.write(Data("FUZZ_TARGET is one of \(targets.keys.sorted())\n".utf8))
        exit(2)
    }
    return target
}()

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    target(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}

/// The package manager calls an executable's `main` by this name.
@_cdecl("Fuzz_main")
public func main(_ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> Int32 {
    var count = count
    var arguments = arguments
    return LLVMFuzzerRunDriver(&count, &arguments) { testOneInput($0, $1) }
}

/// Parts of an input, which are divided by a byte that no text has.
func parts(of input: [UInt8], _ count: Int) -> [[UInt8]] {
    var parts = input.split(separator: 0xFF, maxSplits: count - 1, omittingEmptySubsequences: false).map(Array.init)
    while parts.count < count { parts.append([]) }
    return parts
}
