import Shared
import TestSupport
import Testing

@Suite struct `A handle` {
    /// The rule in words, without regard to time.
    private func phoneNumber(_ raw: String) -> String? {
        let digits = raw.dropFirst().filter { !" -.()\u{A0}".contains($0) }
        guard (7...15).contains(digits.utf8.count), digits.first != "0",
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return "+" + digits
    }

    @Test func `is read by the same rule, whatever bytes a number has`() {
        var random = SeededRandom(seed: 7)
        let common = Array("0123456789123456789 -.()".unicodeScalars)
        let rare = Array("+\r\n\0\t\u{A0}\u{301}\u{660}x\u{1F355}\u{200D}".unicodeScalars)
        var numbers = 0
        for _ in 0..<20_000 {
            var text = "+"
            for _ in 0..<Int.random(in: 0...20, using: &random) {
                let scalars = Int.random(in: 0..<40, using: &random) == 0 ? rare : common
                text.unicodeScalars.append(scalars[Int.random(in: 0..<scalars.count, using: &random)])
            }
            guard text.hasPrefix("+") else { continue }
            let number = phoneNumber(text)
            numbers += number == nil ? 0 : 1
            if Handle(text)?.text != number { Issue.record("\(text.unicodeScalars.map(\.value))") }
        }
        #expect(numbers > 1000)
    }
}
