#if canImport(ActivityKit) && !os(macOS)
    import ActivityKit
    import Shared
    import SwiftUI
    import WidgetKit

    /// An order's card: what is in it and what it comes to.
    public struct OrderIsland: Widget {
        public init() {}

        public var body: some WidgetConfiguration {
            ActivityConfiguration(for: OrderAttributes.self) { context in
                OrderLockScreenView(state: context.state, isStale: context.isStale)
                    .widgetURL(DeepLink.url("order"))
            } dynamicIsland: { context in
                DynamicIsland {
                    DynamicIslandExpandedRegion(.leading) {
                        Label(context.state.merchant, systemImage: "bag.fill").lineLimit(1)
                    }
                    DynamicIslandExpandedRegion(.trailing) {
                        Text(context.state.totalText).monospacedDigit().faded(if: context.isStale)
                    }
                    DynamicIslandExpandedRegion(.bottom) {
                        VStack(alignment: .leading, spacing: 2) {
                            ForEach(context.state.items.suffix(3), id: \.self) { item in
                                Text("\(item.quantity) × \(item.name)").font(.caption).lineLimit(1)
                            }
                            StaleNote(isStale: context.isStale)
                        }
                    }
                } compactLeading: {
                    Label("\(context.state.itemCount)", systemImage: "bag.fill")
                } compactTrailing: {
                    Text(context.state.totalText).monospacedDigit().faded(if: context.isStale)
                } minimal: {
                    Text("\(context.state.itemCount)").faded(if: context.isStale)
                }
                .keylineTint(.orange)
                .widgetURL(DeepLink.url("order"))
            }
        }
    }

    struct OrderLockScreenView: View {
        let state: OrderAttributes.ContentState
        let isStale: Bool

        var body: some View {
            LockScreenCard(title: state.merchant, detail: state.detail, isStale: isStale) {
                Image(systemName: "bag.fill").font(.title)
            } trailing: {
                Text(state.totalText).font(.title3).monospacedDigit()
            }
        }
    }

    extension OrderAttributes.ContentState {
        fileprivate var totalText: String { Amount.text(total, currency) }

        fileprivate var detail: String {
            let newest = items.last.map { "\($0.quantity) × \($0.name)" } ?? "Nothing in it yet"
            return "\(newest) · \(statusText)"
        }

        private var statusText: String {
            switch status {
            case .open: "open"
            case .placed: "placed"
            case .preparing: "being prepared"
            case .ready: "ready"
            case .cancelled: "cancelled"
            case .unknown: "in progress"
            }
        }
    }
#endif
