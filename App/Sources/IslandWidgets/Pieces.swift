#if canImport(ActivityKit) && !os(macOS)
    import Foundation
    import SwiftUI

    /// A ring that fills: the one number that fits into the compact and the minimal presentation.
    struct ProgressRing: View {
        /// 0 to 1; what is more shows as full.
        let fraction: Double
        let tint: Color
        var lineWidth: CGFloat = 3

        var body: some View {
            ZStack {
                Circle().stroke(tint.opacity(0.25), lineWidth: lineWidth)
                Circle()
                    .trim(from: 0, to: min(max(fraction, 0), 1))
                    .stroke(tint, style: StrokeStyle(lineWidth: lineWidth, lineCap: .round))
                    .rotationEffect(.degrees(-90))
            }
            .padding(lineWidth / 2)
        }
    }

    /// Says that the numbers may be old, where they are: the backend has been quiet for longer than it should.
    struct StaleNote: View {
        let isStale: Bool

        var body: some View {
            if isStale {
                Label("Not up to date", systemImage: "exclamationmark.arrow.triangle.2.circlepath")
                    .font(.caption2)
                    .foregroundStyle(.secondary)
            }
        }
    }

    extension View {
        /// Numbers that the user should not trust look like it.
        func faded(if isStale: Bool) -> some View { opacity(isStale ? 0.45 : 1) }
    }

    /// The frame of a card on the Lock Screen: what it is about on the left, its number on the right, a line below.
    struct LockScreenCard<Leading: View, Trailing: View>: View {
        let title: String
        let detail: String
        let isStale: Bool
        @ViewBuilder let leading: Leading
        @ViewBuilder let trailing: Trailing

        var body: some View {
            HStack(spacing: 14) {
                leading.frame(width: 44, height: 44)
                VStack(alignment: .leading, spacing: 2) {
                    Text(title).font(.headline).lineLimit(1)
                    Text(detail).font(.subheadline).foregroundStyle(.secondary).lineLimit(2)
                    StaleNote(isStale: isStale)
                }
                Spacer(minLength: 0)
                trailing
            }
            .padding()
            .faded(if: isStale)
        }
    }

    /// Where a tap on a card goes: `SCHEME://SCREEN`, as the app's own URL scheme.
    enum DeepLink {
        /// Set `IslandURLScheme` in the Info.plist of the widget extension.
        static func url(_ screen: String) -> URL? {
            let scheme = Bundle.main.object(forInfoDictionaryKey: "IslandURLScheme") as? String ?? "isthmus"
            return URL(string: "\(scheme)://\(screen)")
        }
    }

    /// Amounts as the states carry them: whole numbers of the smallest unit.
    enum Amount {
        /// ISO 4217 currencies without a smaller unit.
        private static let withoutMinorUnit: Set<String> = [
            "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF",
            "XOF", "XPF",
        ]

        static func text(_ amount: Int, _ unit: String) -> String {
            guard unit.count == 3, unit == unit.uppercased() else { return "\(amount.formatted()) \(unit)" }
            let value = Decimal(amount) / (withoutMinorUnit.contains(unit) ? 1 : 100)
            return value.formatted(.currency(code: unit))
        }
    }
#endif
