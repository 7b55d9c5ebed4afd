/// A value that cannot print itself: interpolation, `dump` and `String(reflecting:)` all give nothing away.
package struct Secret<Value: Sendable>: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let value: Value

    package init(_ value: Value) { self.value = value }

    /// The value itself, to be called at the place of its use.
    package func reveal() -> Value { value }

    package var description: String { "[secret]" }
    package var debugDescription: String { "[secret]" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
