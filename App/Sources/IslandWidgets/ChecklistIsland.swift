#if canImport(ActivityKit) && !os(macOS)
    import ActivityKit
    import Shared
    import SwiftUI
    import WidgetKit

    /// A checklist's card: how much is left, and what comes next.
    public struct ChecklistIsland: Widget {
        public init() {}

        public var body: some WidgetConfiguration {
            ActivityConfiguration(for: ChecklistAttributes.self) { context in
                ChecklistLockScreenView(state: context.state, isStale: context.isStale)
                    .widgetURL(DeepLink.url("checklist"))
            } dynamicIsland: { context in
                DynamicIsland {
                    DynamicIslandExpandedRegion(.leading) {
                        Label(context.state.title, systemImage: "checklist").lineLimit(1)
                    }
                    DynamicIslandExpandedRegion(.trailing) {
                        Text(context.state.countText).monospacedDigit().faded(if: context.isStale)
                    }
                    DynamicIslandExpandedRegion(.bottom) {
                        VStack(alignment: .leading, spacing: 4) {
                            ProgressView(value: min(max(context.state.fraction, 0), 1)).tint(.teal)
                            Text(context.state.detail).font(.caption).lineLimit(1)
                            StaleNote(isStale: context.isStale)
                        }
                    }
                } compactLeading: {
                    ProgressRing(fraction: context.state.fraction, tint: .teal).frame(width: 22)
                } compactTrailing: {
                    Text(context.state.countText).monospacedDigit().faded(if: context.isStale)
                } minimal: {
                    ProgressRing(fraction: context.state.fraction, tint: .teal).faded(if: context.isStale)
                }
                .keylineTint(.teal)
                .widgetURL(DeepLink.url("checklist"))
            }
        }
    }

    struct ChecklistLockScreenView: View {
        let state: ChecklistAttributes.ContentState
        let isStale: Bool

        var body: some View {
            LockScreenCard(title: state.title, detail: state.detail, isStale: isStale) {
                ProgressRing(fraction: state.fraction, tint: .teal)
            } trailing: {
                Text(state.countText).font(.title3).monospacedDigit()
            }
        }
    }

    extension ChecklistAttributes.ContentState {
        fileprivate var fraction: Double { total > 0 ? Double(done) / Double(total) : 0 }
        fileprivate var countText: String { "\(done)/\(total)" }

        fileprivate var detail: String {
            if let next { return "Next: \(next)" }
            return lastDone.map { "All done, last: \($0)" } ?? "All done"
        }
    }
#endif
