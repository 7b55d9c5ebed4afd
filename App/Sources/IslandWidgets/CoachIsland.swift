#if canImport(ActivityKit) && !os(macOS)
    import ActivityKit
    import Shared
    import SwiftUI
    import WidgetKit

    /// The coach's card: the ring of the day's calories, the streak, and the last meal.
    public struct CoachIsland: Widget {
        public init() {}

        public var body: some WidgetConfiguration {
            ActivityConfiguration(for: CoachAttributes.self) { context in
                CoachLockScreenView(state: context.state, isStale: context.isStale)
                    .activityBackgroundTint(Color.black.opacity(0.6))
                    .activitySystemActionForegroundColor(.green)
                    .widgetURL(DeepLink.url("today"))
            } dynamicIsland: { context in
                DynamicIsland {
                    DynamicIslandExpandedRegion(.leading) {
                        CalorieRing(consumed: context.state.calories, goal: context.state.goal)
                            .frame(width: 44, height: 44)
                            .faded(if: context.isStale)
                    }
                    DynamicIslandExpandedRegion(.trailing) {
                        Label("\(context.state.streak)", systemImage: "flame.fill")
                            .foregroundStyle(.orange)
                            .faded(if: context.isStale)
                            .accessibilityLabel("\(context.state.streak) days in a row")
                    }
                    DynamicIslandExpandedRegion(.bottom) {
                        VStack(spacing: 2) {
                            Text(context.state.lastMeal).lineLimit(1)
                            Text("\(context.state.calories) of \(context.state.goal) cal")
                                .font(.caption)
                                .foregroundStyle(.secondary)
                            StaleNote(isStale: context.isStale)
                        }
                    }
                } compactLeading: {
                    CalorieRing(consumed: context.state.calories, goal: context.state.goal)
                        .frame(width: 22)
                        .faded(if: context.isStale)
                } compactTrailing: {
                    Text("\(context.state.calories)").monospacedDigit().faded(if: context.isStale)
                } minimal: {
                    CalorieRing(consumed: context.state.calories, goal: context.state.goal)
                        .faded(if: context.isStale)
                }
                .keylineTint(.green)
                .widgetURL(DeepLink.url("today"))
            }
        }
    }

    /// The day's calories against the goal: green, and orange beyond it.
    struct CalorieRing: View {
        let consumed: Int
        let goal: Int

        private var fraction: Double { goal > 0 ? Double(consumed) / Double(goal) : 0 }

        var body: some View {
            ProgressRing(fraction: fraction, tint: consumed > goal ? .orange : .green)
                .accessibilityLabel("\(consumed) of \(goal) calories")
        }
    }

    struct CoachLockScreenView: View {
        let state: CoachAttributes.ContentState
        let isStale: Bool

        var body: some View {
            LockScreenCard(
                title: "\(state.calories) of \(state.goal) cal", detail: state.lastMeal, isStale: isStale
            ) {
                CalorieRing(consumed: state.calories, goal: state.goal)
            } trailing: {
                Label("\(state.streak)", systemImage: "flame.fill").foregroundStyle(.orange)
            }
        }
    }
#endif
