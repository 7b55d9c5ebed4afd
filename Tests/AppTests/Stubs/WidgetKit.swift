// What the app uses of Apple's WidgetKit, with the declarations of its public interface and nothing behind them: the tests
// type-check the app against it.
public import ActivityKit
public import Foundation
public import SwiftUI

@available(iOS 16.1, *)
public struct ActivityViewContext<Attributes> where Attributes: ActivityAttributes {
    public let activityID: String
    public let attributes: Attributes
    public let state: Attributes.ContentState
    @available(iOS 16.2, *)
    public let isStale: Bool
}

@available(iOS 16.1, *)
@MainActor @preconcurrency
public struct ActivityConfiguration<Attributes>: WidgetConfiguration where Attributes: ActivityAttributes {
    @MainActor @preconcurrency
    public init<Content>(
        for attributesType: Attributes.Type,
        @ViewBuilder content: @escaping (ActivityViewContext<Attributes>) -> Content,
        dynamicIsland: @escaping (ActivityViewContext<Attributes>) -> DynamicIsland
    ) where Content: View {}

    @MainActor @preconcurrency public var body: Never { preconditionFailure("stubs are type-checked, never run") }
}

@available(iOS 16.1, *)
public struct DynamicIsland {
    public init<Expanded, CompactLeading, CompactTrailing, Minimal>(
        @DynamicIslandExpandedContentBuilder expanded: @escaping () -> DynamicIslandExpandedContent<Expanded>,
        @ViewBuilder compactLeading: @escaping () -> CompactLeading,
        @ViewBuilder compactTrailing: @escaping () -> CompactTrailing,
        @ViewBuilder minimal: @escaping () -> Minimal
    ) where Expanded: View, CompactLeading: View, CompactTrailing: View, Minimal: View {}

    public func widgetURL(_ url: URL?) -> DynamicIsland { self }
    public func keylineTint(_ color: Color?) -> DynamicIsland { self }
    public func contentMargins(
        _ edges: Edge.Set = .all, _ length: Double, for mode: DynamicIslandMode
    ) -> DynamicIsland { self }
}

@available(iOS 16.1, *)
public struct DynamicIslandMode: Equatable {
    public static var expanded: DynamicIslandMode { DynamicIslandMode() }
}

@available(iOS 16.1, *)
public struct DynamicIslandExpandedContent<Content> where Content: View {}

@available(iOS 16.1, *)
@resultBuilder
public struct DynamicIslandExpandedContentBuilder {
    public static func buildPartialBlock<C>(
        first: DynamicIslandExpandedRegion<C>
    ) -> DynamicIslandExpandedContent<some View> where C: View { DynamicIslandExpandedContent<EmptyView>() }

    public static func buildPartialBlock<C>(
        first: DynamicIslandExpandedContent<C>
    ) -> DynamicIslandExpandedContent<some View> where C: View { DynamicIslandExpandedContent<EmptyView>() }

    public static func buildPartialBlock<C0, C1>(
        accumulated: DynamicIslandExpandedContent<C0>, next: DynamicIslandExpandedRegion<C1>
    ) -> DynamicIslandExpandedContent<some View> where C0: View, C1: View { DynamicIslandExpandedContent<EmptyView>() }

    public static func buildPartialBlock<C0, C1>(
        accumulated: DynamicIslandExpandedContent<C0>, next: DynamicIslandExpandedContent<C1>
    ) -> DynamicIslandExpandedContent<some View> where C0: View, C1: View { DynamicIslandExpandedContent<EmptyView>() }
}

@available(iOS 16.1, *)
public struct DynamicIslandExpandedRegion<Content> where Content: View {
    public init(
        _ position: DynamicIslandExpandedRegionPosition, priority: Double = 0, @ViewBuilder content: () -> Content
    ) {}
}

@available(iOS 16.1, *)
public struct DynamicIslandExpandedRegionPosition {
    public static var leading: DynamicIslandExpandedRegionPosition { Self() }
    public static var trailing: DynamicIslandExpandedRegionPosition { Self() }
    public static var center: DynamicIslandExpandedRegionPosition { Self() }
    public static var bottom: DynamicIslandExpandedRegionPosition { Self() }
}

extension View {
    @available(iOS 16.1, *)
    public nonisolated func activityBackgroundTint(_ color: Color?) -> some View { ModifiedContent<Self>() }
    @available(iOS 16.1, *)
    public nonisolated func activitySystemActionForegroundColor(_ color: Color?) -> some View {
        ModifiedContent<Self>()
    }
    @available(iOS 14.0, *)
    public nonisolated func widgetURL(_ url: URL?) -> some View { ModifiedContent<Self>() }
}
