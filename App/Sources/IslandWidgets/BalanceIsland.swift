#if canImport(ActivityKit) && !os(macOS)
    import ActivityKit
    import Shared
    import SwiftUI
    import WidgetKit

    /// A balance's card: money or points, and what moved them last.
    public struct BalanceIsland: Widget {
        public init() {}

        public var body: some WidgetConfiguration {
            ActivityConfiguration(for: BalanceAttributes.self) { context in
                BalanceLockScreenView(state: context.state, isStale: context.isStale)
                    .widgetURL(DeepLink.url("balance"))
            } dynamicIsland: { context in
                DynamicIsland {
                    DynamicIslandExpandedRegion(.leading) {
                        BalanceMark(state: context.state).frame(width: 44, height: 44)
                    }
                    DynamicIslandExpandedRegion(.trailing) {
                        Text(context.state.balanceText).monospacedDigit().faded(if: context.isStale)
                    }
                    DynamicIslandExpandedRegion(.bottom) {
                        VStack(spacing: 2) {
                            Text(context.state.detail).lineLimit(1)
                            StaleNote(isStale: context.isStale)
                        }
                    }
                } compactLeading: {
                    BalanceMark(state: context.state).frame(width: 22)
                } compactTrailing: {
                    Text(context.state.balanceText).monospacedDigit().faded(if: context.isStale)
                } minimal: {
                    BalanceMark(state: context.state).faded(if: context.isStale)
                }
                .keylineTint(.purple)
                .widgetURL(DeepLink.url("balance"))
            }
        }
    }

    /// How near the target is, or a plain mark where there is none.
    struct BalanceMark: View {
        let state: BalanceAttributes.ContentState

        var body: some View {
            if let target = state.target, target > 0 {
                ProgressRing(fraction: Double(state.balance) / Double(target), tint: .purple)
            } else {
                Image(systemName: "creditcard.fill").foregroundStyle(.purple)
            }
        }
    }

    struct BalanceLockScreenView: View {
        let state: BalanceAttributes.ContentState
        let isStale: Bool

        var body: some View {
            LockScreenCard(title: state.balanceText, detail: state.detail, isStale: isStale) {
                BalanceMark(state: state)
            } trailing: {
                Text(state.changeText).font(.title3).monospacedDigit()
            }
        }
    }

    extension BalanceAttributes.ContentState {
        fileprivate var balanceText: String { Amount.text(balance, unit) }
        fileprivate var changeText: String { (lastChange > 0 ? "+" : "") + Amount.text(lastChange, unit) }
        fileprivate var detail: String { "\(lastEntry) · \(changeText)" }
    }
#endif
