/// Numbers as digits of ASCII, with no text in between.
enum Decimals {
    /// Writes the last `width` digits of a number, with zeros before it where it has fewer.
    static func write(_ number: UInt64, _ width: Int, to text: UnsafeMutablePointer<UInt8>) {
        var rest = number
        for index in stride(from: width - 1, through: 0, by: -1) {
            text[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}
