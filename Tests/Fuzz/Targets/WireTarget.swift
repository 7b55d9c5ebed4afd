import Foundation
import Shared

/// The body of a message of the broker's: read or thrown, and what was read is the same when it is written and read again.
@Sendable func fuzzWire(_ input: [UInt8]) {
    again(CloudEvent<InboundEvent>.self, input) { $0.data == $1.data }
    again(CloudEvent<DesiredIsland>.self, input) { $0.data == $1.data }
    again(CloudEvent<ReplyRequest>.self, input) { $0.data == $1.data }
    again(CloudEvent<RegistryCommand>.self, input) { $0.data == $1.data }
    again(CloudEvent<RegistryRecord>.self, input) { $0.data == $1.data }
    again(CloudEvent<RegistryLookup>.self, input) { $0.data == $1.data }
    again(CloudEvent<RegistryStart>.self, input) { $0.data == $1.data }
    for kind in IslandKind.all {
        // What a phone would refuse is no crash.
        guard let state = try? kind.check(input) else { continue }
        precondition((try? kind.check(state)) == state, "\(kind.attributesType): a state that changes when read again")
    }
}

private func again<Payload: JSONWritable & JSONPayload>(
    _ type: CloudEvent<Payload>.Type, _ input: [UInt8],
    _ isEqual: (CloudEvent<Payload>, CloudEvent<Payload>) -> Bool
) {
    let foundations = try? JSONDecoder().decode(CloudEvent<Payload>.self, from: Data(input))
    // What cannot be read is parked by whoever took it.
    guard let event = try? CloudEvent<Payload>(decoding: input) else {
        return precondition(foundations == nil, "\(type): JSONDecoder reads what we do not")
    }
    let isSame = foundations.map { event.id == $0.id && isEqual(event, $0) }
    precondition(isSame == true, "\(type): JSONDecoder reads something else")
    do {
        let second = try CloudEvent<Payload>(decoding: event.encoded())
        precondition(second.id == event.id && second.time == event.time && isEqual(event, second), "\(type) changes")
    } catch { preconditionFailure("\(type) cannot be read again: \(error)") }
}
