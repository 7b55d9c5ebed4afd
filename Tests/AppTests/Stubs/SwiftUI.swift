// What the app uses of Apple's SwiftUI, with the declarations of its public interface and nothing behind them: the tests
// type-check the app against it.
public import Foundation

@MainActor @preconcurrency
public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Self.Body { get }
}

extension Never: View {
    public var body: Never { preconditionFailure("a stub") }
}

/// The views that the system draws itself have no body.
public protocol Drawn: View where Body == Never {}
extension Drawn {
    public var body: Never { preconditionFailure("stubs are type-checked, never run") }
}

public struct EmptyView: Drawn { public nonisolated init() {} }
public struct TupleView<T>: Drawn {}
public struct ConditionalContent<True: View, False: View>: Drawn {}
public struct ModifiedContent<Content: View>: Drawn { public nonisolated init() {} }
extension Optional: View where Wrapped: View { public var body: Never { preconditionFailure("a stub") } }

@resultBuilder
public struct ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(
        _ content: repeat each Content
    ) -> TupleView<(repeat each Content)> { TupleView() }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<True: View, False: View>(first: True) -> ConditionalContent<True, False> {
        ConditionalContent()
    }
    public static func buildEither<True: View, False: View>(second: False) -> ConditionalContent<True, False> {
        ConditionalContent()
    }
}

public struct LocalizedStringKey: Equatable, ExpressibleByStringInterpolation {
    public init(_ value: String) {}
    public init(stringLiteral value: String) {}
}

public struct Text: Drawn, Equatable {
    public nonisolated init(
        _ key: LocalizedStringKey, tableName: String? = nil, bundle: Bundle? = nil, comment: StaticString? = nil
    ) {}
    @_disfavoredOverload public nonisolated init<S>(_ content: S) where S: StringProtocol {}
    public nonisolated init(_ date: Date, style: DateStyle) {}
    public struct DateStyle: Equatable, Sendable {
        public static let time = DateStyle()
        public static let relative = DateStyle()
    }
    public nonisolated func monospacedDigit() -> Text { self }
    public nonisolated func font(_ font: Font?) -> Text { self }
}

public struct Image: Drawn { public nonisolated init(systemName: String) {} }

public struct Label<Title: View, Icon: View>: Drawn {}
extension Label where Title == Text, Icon == Image {
    public nonisolated init(_ titleKey: LocalizedStringKey, systemImage name: String) {}
    @_disfavoredOverload public nonisolated init<S>(_ title: S, systemImage name: String) where S: StringProtocol {}
}

public struct HorizontalAlignment: Equatable, Sendable {
    public static let leading = HorizontalAlignment()
    public static let center = HorizontalAlignment()
}
public struct VerticalAlignment: Equatable, Sendable { public static let center = VerticalAlignment() }
public struct Alignment: Equatable, Sendable { public static let center = Alignment() }

public struct HStack<Content: View>: Drawn {
    public nonisolated init(
        alignment: VerticalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
    ) {}
}
public struct VStack<Content: View>: Drawn {
    public nonisolated init(
        alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
    ) {}
}
public struct ZStack<Content: View>: Drawn {
    public nonisolated init(alignment: Alignment = .center, @ViewBuilder content: () -> Content) {}
}
public struct Spacer: Drawn { public nonisolated init(minLength: CGFloat? = nil) {} }
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content> {}
extension ForEach: View where Content: View { public var body: Never { preconditionFailure("a stub") } }
extension ForEach: Drawn where Content: View {}
extension ForEach where Content: View {
    public nonisolated init(
        _ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content
    ) {}
}
public struct ProgressView<Label: View, CurrentValueLabel: View>: Drawn {}
extension ProgressView where Label == EmptyView, CurrentValueLabel == EmptyView {
    public nonisolated init<V>(value: V?, total: V = 1.0) where V: BinaryFloatingPoint {}
}

public struct Angle: Sendable { public static func degrees(_ degrees: Double) -> Angle { Angle() } }
public struct StrokeStyle: Equatable, Sendable {
    public init(lineWidth: CGFloat = 1, lineCap: CGLineCap = .butt) {}
}
public enum CGLineCap: Int32, Sendable { case butt, round, square }

public protocol ShapeStyle: Sendable {}
public struct Color: ShapeStyle, Drawn, Hashable {
    public static let black = Color()
    public static let blue = Color()
    public static let green = Color()
    public static let orange = Color()
    public static let purple = Color()
    public static let teal = Color()
    public func opacity(_ opacity: Double) -> Color { self }
}
public struct HierarchicalShapeStyle: ShapeStyle {}
extension ShapeStyle where Self == HierarchicalShapeStyle {
    public static var secondary: HierarchicalShapeStyle { HierarchicalShapeStyle() }
}
extension ShapeStyle where Self == Color {
    public static var orange: Color { Color() }
    public static var purple: Color { Color() }
}

public protocol Shape: Sendable, View {}
public struct Circle: Shape, Drawn { public nonisolated init() {} }
extension Shape {
    public nonisolated func trim(from startFraction: CGFloat = 0, to endFraction: CGFloat = 1) -> some Shape {
        Circle()
    }
    public nonisolated func stroke<S>(_ content: S, lineWidth: CGFloat = 1) -> some View where S: ShapeStyle {
        EmptyView()
    }
    public nonisolated func stroke<S>(_ content: S, style: StrokeStyle) -> some View where S: ShapeStyle { EmptyView() }
}

public struct Font: Hashable, Sendable {
    public static let title = Font()
    public static let title3 = Font()
    public static let headline = Font()
    public static let subheadline = Font()
    public static let caption = Font()
    public static let caption2 = Font()
}

public struct Edge: Sendable {
    public struct Set: OptionSet, Sendable {
        public let rawValue: Int8
        public init(rawValue: Int8) { self.rawValue = rawValue }
        public static let all = Set(rawValue: 15)
    }
}

extension View {
    public nonisolated func font(_ font: Font?) -> some View { ModifiedContent<Self>() }
    public nonisolated func foregroundStyle<S>(_ style: S) -> some View where S: ShapeStyle { ModifiedContent<Self>() }
    public nonisolated func tint(_ tint: Color?) -> some View { ModifiedContent<Self>() }
    public nonisolated func opacity(_ opacity: Double) -> some View { ModifiedContent<Self>() }
    public nonisolated func lineLimit(_ number: Int?) -> some View { ModifiedContent<Self>() }
    public nonisolated func rotationEffect(_ angle: Angle) -> some View { ModifiedContent<Self>() }
    public nonisolated func padding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View {
        ModifiedContent<Self>()
    }
    public nonisolated func padding(_ length: CGFloat) -> some View { ModifiedContent<Self>() }
    public nonisolated func frame(
        width: CGFloat? = nil, height: CGFloat? = nil, alignment: Alignment = .center
    ) -> some View { ModifiedContent<Self>() }
    public nonisolated func accessibilityLabel(_ labelKey: LocalizedStringKey) -> some View { ModifiedContent<Self>() }
}

@available(iOS 14.0, *)
@MainActor @preconcurrency
public protocol Widget {
    associatedtype Body: WidgetConfiguration
    @MainActor @preconcurrency var body: Self.Body { get }
    @MainActor @preconcurrency init()
}

@available(iOS 14.0, *)
@MainActor @preconcurrency
public protocol WidgetBundle {
    associatedtype Body: Widget
    @MainActor @preconcurrency var body: Self.Body { get }
    @MainActor @preconcurrency init()
}

@available(iOS 14.0, *)
extension WidgetBundle {
    @MainActor @preconcurrency public static func main() {}
}

@available(iOS 14.0, *)
@MainActor @preconcurrency
public protocol WidgetConfiguration {
    associatedtype Body: WidgetConfiguration
    @MainActor @preconcurrency var body: Self.Body { get }
}

extension Never: WidgetConfiguration {}
