import Foundation
import Shared

/// Says where a delivery is.
///
/// "Order from Mario's, 20 min" begins one that moves by the clock; a backend that knows better reports with the custom
/// event "delivery": any of `{"merchant", "phase", "etaEpoch", "progress", "courier"}`.
struct DeliveryAgent: TextAgent {
    typealias Attributes = DeliveryAttributes

    struct Model: Codable, Sendable, Equatable {
        var merchant: String?
        /// UNIX seconds.
        var startedAt = 0
        /// UNIX seconds.
        var eta = 0
        var courier: String?
        /// What the backend has reported; `nil` goes by the clock.
        var phase: DeliveryAttributes.Phase?
        var progress: Double?
    }

    private struct Report: Decodable {
        let merchant: String?
        let phase: DeliveryAttributes.Phase?
        let etaEpoch: Int?
        let progress: Double?
        let courier: String?
    }

    static let usualMinutes = 30
    static let longestName = 40

    let startsCardByEvent = true

    var initialModel: Model { Model() }

    func answer(_ text: String, _ model: inout Model, at now: Date) -> String? {
        if let merchant = Self.merchant(in: text) {
            let minutes = min(max(text.firstNumber ?? Self.usualMinutes, 1), 240)
            let start = Int(now.timeIntervalSince1970)
            model = Model(merchant: merchant, startedAt: start, eta: start + minutes * 60)
            return "\(merchant) has your order. It should be there in \(minutes) min."
        }
        guard let state = state(of: model, at: now) else {
            return "Nothing is on its way. Text \"order from\" and a name to begin."
        }
        return sentence(state, at: now)
    }

    func take(_ event: CustomEvent, _ model: inout Model, at now: Date) -> Bool {
        guard let report = event.payload("delivery", as: Report.self), report.merchant ?? model.merchant != nil else {
            return false
        }
        if let merchant = report.merchant, merchant != model.merchant {
            let start = Int(now.timeIntervalSince1970)
            model = Model(
                merchant: String(merchant.prefix(Self.longestName)), startedAt: start,
                eta: start + Self.usualMinutes * 60)
        }
        if let phase = report.phase, phase != .unknown { model.phase = phase }
        if let eta = report.etaEpoch { model.eta = eta }
        if let progress = report.progress, progress.isFinite { model.progress = min(max(progress, 0), 1) }
        if let courier = report.courier { model.courier = String(courier.prefix(Self.longestName)) }
        return true
    }

    func state(of model: Model, at now: Date) -> DeliveryAttributes.ContentState? {
        guard let merchant = model.merchant else { return nil }
        let passed = now.timeIntervalSince1970 - Double(model.startedAt)
        let byClock = min(max(passed / Double(max(model.eta &- model.startedAt, 1)), 0), 1)
        let progress = model.phase == .delivered ? 1 : model.progress ?? byClock
        return DeliveryAttributes.ContentState(
            phase: model.phase ?? Self.phase(at: progress), etaEpoch: model.eta,
            progress: (progress * 100).rounded() / 100, merchant: merchant, courier: model.courier)
    }

    func milestone(from shown: State?, to state: State) -> DesiredIsland.Alert? {
        guard state.phase != shown?.phase else { return nil }
        switch state.phase {
        case .nearby: return DesiredIsland.Alert(title: "Almost there", body: "\(state.merchant) is around the corner")
        case .delivered: return DesiredIsland.Alert(title: "Delivered", body: "\(state.merchant), enjoy")
        case .preparing, .enRoute, .unknown: return nil
        }
    }

    private static func phase(at progress: Double) -> DeliveryAttributes.Phase {
        switch progress {
        case ..<0.3: .preparing
        case ..<0.85: .enRoute
        case ..<1: .nearby
        default: .delivered
        }
    }

    private func sentence(_ state: State, at now: Date) -> String {
        let seconds = Double(state.etaEpoch) - now.timeIntervalSince1970
        let minutes = Int(min(max((seconds / 60).rounded(.up), 0), 10_000))
        let carrier = state.courier ?? "Your order"
        return switch state.phase {
        case .preparing, .unknown: "\(state.merchant) is preparing your order: \(minutes) min."
        case .enRoute: "\(carrier) is on the way from \(state.merchant): \(minutes) min."
        case .nearby: "\(carrier) is almost there: \(minutes) min."
        case .delivered: "Your order from \(state.merchant) has been delivered."
        }
    }

    /// "Order from Mario's, 20 min": what stands behind "from".
    static func merchant(in text: String) -> String? {
        guard let match = text.firstMatch(of: /(?i)\bfrom\s+([^,.!?\n0-9]+)/) else { return nil }
        var words = match.output.1.split(separator: " ").map(String.init)
        if ["in", "at", "please"].contains(words.last?.lowercased()) { words.removeLast() }
        let name = words.joined(separator: " ").prefix(longestName)
        return name.isEmpty ? nil : String(name).capitalizedOnce
    }
}
