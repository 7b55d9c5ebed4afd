/// One row of an answer.
///
/// The typed readings throw a `DatabaseError` when there is no such column or it holds something else: a mistake in the
/// program or a damaged table.
package struct Row: Sendable {
    /// How many rows one statement may answer with.
    package static let limit = 100_000

    /// The columns' names and places, shared by all rows of an answer.
    let columns: [String: Int]
    let values: [DatabaseValue]

    /// The value of the column at `index`, counted from 0 in the order of the statement.
    package subscript(index: Int) -> DatabaseValue { values[index] }

    /// The value of the column called `name`; `nil` if there is no such column.
    package subscript(name: String) -> DatabaseValue? { columns[name].map { values[$0] } }

    package func text(_ name: String) throws(DatabaseError) -> String {
        guard let text = try optionalText(name) else { throw Self.mismatch(name, "a text") }
        return text
    }

    package func optionalText(_ name: String) throws(DatabaseError) -> String? {
        switch self[name] {
        case .text(let text): text
        case .null: nil
        default: throw Self.mismatch(name, "a text")
        }
    }

    package func integer(_ name: String) throws(DatabaseError) -> Int64 {
        guard let integer = try optionalInteger(name) else { throw Self.mismatch(name, "an integer") }
        return integer
    }

    package func optionalInteger(_ name: String) throws(DatabaseError) -> Int64? {
        switch self[name] {
        case .integer(let integer): integer
        case .null: nil
        default: throw Self.mismatch(name, "an integer")
        }
    }

    /// Whether the integer is not 0.
    package func bool(_ name: String) throws(DatabaseError) -> Bool { try integer(name) != 0 }

    package func real(_ name: String) throws(DatabaseError) -> Double {
        guard let real = try optionalReal(name) else { throw Self.mismatch(name, "a real number") }
        return real
    }

    package func optionalReal(_ name: String) throws(DatabaseError) -> Double? {
        switch self[name] {
        case .real(let real): real
        case .integer(let integer): Double(integer)
        case .null: nil
        default: throw Self.mismatch(name, "a real number")
        }
    }

    package func blob(_ name: String) throws(DatabaseError) -> [UInt8] {
        guard let blob = try optionalBlob(name) else { throw Self.mismatch(name, "a blob") }
        return blob
    }

    package func optionalBlob(_ name: String) throws(DatabaseError) -> [UInt8]? {
        switch self[name] {
        case .blob(let blob): blob
        case .null: nil
        default: throw Self.mismatch(name, "a blob")
        }
    }

    private static func mismatch(_ name: String, _ wanted: String) -> DatabaseError {
        DatabaseError(.read, code: "type", "the column \(name) is not there or does not hold \(wanted)")
    }
}
