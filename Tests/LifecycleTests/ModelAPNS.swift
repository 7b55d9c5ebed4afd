import APNSClient
import Foundation
import HTTP2
import Shared

@testable import APNSPusher
@testable import Simulator

/// Both of Apple's APNs: checks requests as the simulator's does, and holds accepted pushes until they are delivered.
struct ModelAPNS {
    enum Fault: CaseIterable {
        case tooManyRequests, unavailable, internalError, shutdown
        /// 410, although the token is good.
        case gone
        /// 410 with a time before the token was registered.
        case goneLongAgo
        case notProcessed
        /// No answer: the push was taken.
        case lostAnswer
        /// No answer: the push was not taken.
        case lostRequest
        /// Accepted, and never delivered.
        case acceptedAndLost
    }

    enum Result {
        case answer(APNSAnswer)
        case noAnswer(wasSent: Bool)
    }

    struct InFlight {
        let push: Push
        let deviceID: String
        /// For a start: its session and generation.
        let collapseID: String?
    }

    private var deviceOfToken: [String: (deviceID: String, environment: APNSEnvironment)] = [:]
    private var dead: [String: (TokenDeath, Date)] = [:]
    private(set) var inFlight: [InFlight] = []
    /// Starts that were taken, by device, session and generation.
    private(set) var starts: [String: Int] = [:]
    /// The last one of each.
    private(set) var lastStarts: [String: (timestamp: Int64, at: Timestamp)] = [:]
    private(set) var pushCount: [String: Int] = [:]
    private(set) var problems: [String] = []
    private var serial = 0

    mutating func issue(_ token: String, to deviceID: String, _ environment: APNSEnvironment) {
        deviceOfToken[token] = (deviceID, environment)
        dead[token] = nil
    }

    mutating func kill(_ token: String, _ death: TokenDeath, at now: Timestamp) {
        deviceOfToken[token] = nil
        dead[token] = (death, now.date)
    }

    func device(of token: String) -> String? { deviceOfToken[token]?.deviceID }

    mutating func take(_ index: Int) -> InFlight { inFlight.remove(at: index) }

    /// One request: its answer, and what it does.
    mutating func send(
        _ request: APNSClient.PushRequest, to environment: APNSEnvironment, fault: Fault?, at now: Timestamp
    ) -> Result {
        if let answer = refusal(fault, now) { return answer }
        let checked: Simulator.PushRequest
        do {
            let http = request.http2(providerToken: "-")
            checked = try Simulator.PushRequest(
                method: http.method, path: http.path, headers: http.headers, body: http.body)
        } catch {
            problems.append("APNs refuses a request: \(error)")
            return answer(error, now)
        }
        if let (death, since) = dead[checked.token] { return answer(.gone(death, since: since), now) }
        guard let (deviceID, home) = deviceOfToken[checked.token], home == environment else {
            return answer(.badDeviceToken, now)
        }
        if fault == .lostRequest { return .noAnswer(wasSent: true) }
        accept(checked, request.body, deviceID, isLost: fault == .acceptedAndLost, at: now)
        return fault == .lostAnswer ? .noAnswer(wasSent: true) : .answer(APNSAnswer(status: 200, body: [], now: now))
    }

    private mutating func accept(
        _ request: Simulator.PushRequest, _ body: [UInt8], _ deviceID: String, isLost: Bool, at now: Timestamp
    ) {
        pushCount[deviceID, default: 0] += 1
        if let collapseID = request.collapseID {
            let key = "\(deviceID) \(collapseID)"
            starts[key, default: 0] += 1
            // The request was checked: there is a body with a timestamp in it.
            let timestamp = (try? PushPayload(decoding: body))?.aps.timestamp ?? 0
            lastStarts[key] = (timestamp, now)
        }
        serial += 1
        let push = Push(
            apnsID: "push-\(serial)", token: request.token, body: body, priority: request.priority,
            expiration: request.expiration)
        if !isLost {
            inFlight.append(InFlight(push: push, deviceID: deviceID, collapseID: request.collapseID))
        }
    }

    private func refusal(_ fault: Fault?, _ now: Timestamp) -> Result? {
        switch fault {
        case .tooManyRequests: answer(.tooManyRequests, now)
        case .unavailable: answer(.serviceUnavailable, now)
        case .internalError: answer(.internalServerError, now)
        case .shutdown: answer(.shutdown, now)
        case .gone: answer(.gone(.unregistered, since: now.date), now)
        case .goneLongAgo: answer(.gone(.unregistered, since: now.date - 86400 * 30), now)
        case .notProcessed: .noAnswer(wasSent: false)
        case .lostAnswer, .lostRequest, .acceptedAndLost, nil: nil
        }
    }

    private func answer(_ refusal: APNSRefusal, _ now: Timestamp) -> Result {
        .answer(APNSAnswer(status: refusal.status, body: refusal.body, now: now))
    }
}
