/// An enum whose unknown cases decode as a fallback: a phone with last month's app still shows today's state, where a
/// plain enum would make it drop the whole of it.
public protocol OpenCase: RawRepresentable, CaseIterable, Codable, Hashable, Sendable where RawValue == String {
    /// What stands for every case that this build does not know.
    static var fallback: Self { get }
}

extension OpenCase {
    public init(from decoder: any Decoder) throws {
        self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? Self.fallback
    }
}
