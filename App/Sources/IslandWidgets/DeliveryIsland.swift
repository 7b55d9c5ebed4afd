#if canImport(ActivityKit) && !os(macOS)
    import ActivityKit
    import Foundation
    import Shared
    import SwiftUI
    import WidgetKit

    /// A delivery's card: where it is and when it will be there.
    public struct DeliveryIsland: Widget {
        public init() {}

        public var body: some WidgetConfiguration {
            ActivityConfiguration(for: DeliveryAttributes.self) { context in
                DeliveryLockScreenView(state: context.state, isStale: context.isStale)
                    .widgetURL(DeepLink.url("delivery"))
            } dynamicIsland: { context in
                DynamicIsland {
                    DynamicIslandExpandedRegion(.leading) {
                        Label(context.state.merchant, systemImage: "bicycle").lineLimit(1)
                    }
                    DynamicIslandExpandedRegion(.trailing) {
                        Text(context.state.eta, style: .time).monospacedDigit().faded(if: context.isStale)
                    }
                    DynamicIslandExpandedRegion(.bottom) {
                        VStack(alignment: .leading, spacing: 4) {
                            ProgressView(value: context.state.fraction).tint(.blue)
                            Text(context.state.detail).font(.caption).lineLimit(1)
                            StaleNote(isStale: context.isStale)
                        }
                    }
                } compactLeading: {
                    ProgressRing(fraction: context.state.progress, tint: .blue).frame(width: 22)
                } compactTrailing: {
                    Text(context.state.eta, style: .time).monospacedDigit().faded(if: context.isStale)
                } minimal: {
                    ProgressRing(fraction: context.state.progress, tint: .blue).faded(if: context.isStale)
                }
                .keylineTint(.blue)
                .widgetURL(DeepLink.url("delivery"))
            }
        }
    }

    struct DeliveryLockScreenView: View {
        let state: DeliveryAttributes.ContentState
        let isStale: Bool

        var body: some View {
            LockScreenCard(title: state.merchant, detail: state.detail, isStale: isStale) {
                ProgressRing(fraction: state.progress, tint: .blue)
            } trailing: {
                Text(state.eta, style: .time).font(.title3).monospacedDigit()
            }
        }
    }

    extension DeliveryAttributes.ContentState {
        /// UNIX seconds: a `Date` in the state would be read as seconds since 2001.
        fileprivate var eta: Date { Date(timeIntervalSince1970: TimeInterval(etaEpoch)) }

        fileprivate var fraction: Double { min(max(progress, 0), 1) }

        fileprivate var detail: String {
            guard let courier else { return phaseText }
            return "\(phaseText) · \(courier)"
        }

        private var phaseText: String {
            switch phase {
            case .preparing: "Being prepared"
            case .enRoute, .unknown: "On its way"
            case .nearby: "Almost there"
            case .delivered: "Delivered"
            }
        }
    }
#endif
