/// What a column or a parameter can hold.
///
/// PostgreSQL's booleans are read as the integers 0 and 1, its exact numerics as an integer if they are whole and fit,
/// else as a real; every other type as text.
package enum DatabaseValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

extension DatabaseValue {
    package static func integer(_ value: Int) -> DatabaseValue { .integer(Int64(value)) }

    package static func optional(_ text: String?) -> DatabaseValue { text.map(DatabaseValue.text) ?? .null }

    package static func optional(_ integer: Int64?) -> DatabaseValue { integer.map(DatabaseValue.integer) ?? .null }

    package static func optional(_ blob: [UInt8]?) -> DatabaseValue { blob.map(DatabaseValue.blob) ?? .null }

    /// `true` is 1, `false` is 0: declare such a column as an integer in both databases.
    package static func bool(_ value: Bool) -> DatabaseValue { .integer(value ? 1 : 0) }
}

extension DatabaseValue: ExpressibleByNilLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral
{
    package init(nilLiteral: ()) { self = .null }

    package init(integerLiteral value: Int64) { self = .integer(value) }

    package init(floatLiteral value: Double) { self = .real(value) }

    package init(stringLiteral value: String) { self = .text(value) }
}
