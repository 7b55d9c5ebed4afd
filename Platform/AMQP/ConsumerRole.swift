import Runtime

/// Keeps a channel open for each subscription and settles deliveries.
///
/// Lives on the connection's thread.
final class ConsumerRole: ConnectionRole {
    private struct Wanted {
        let subscription: AMQPSubscription
        var channel: UInt16?
        var failures = 0
        /// Not to be tried before.
        var retryAt = 0.0
        /// The name of the exclusive queue on this connection, if it has one.
        var exclusiveQueue: String?
    }

    private struct OpenChannel {
        let subscription: AMQPSubscription
        let queue: String
        let epoch: UInt64
        let isAcknowledged: Bool
        var ledger = AcknowledgementLedger()
        /// Since when something is settled behind something that is not.
        var looseSince: Double?
    }

    /// How long a verdict waits for others: one frame for many spares the broker most of its work with them.
    private static let gathering = 0.005
    /// How long one waits for those before it.
    private static let longestLoose = 0.025

    private let inbox: ConsumerInbox
    private let thread: ConnectionThread
    private let backoff = Backoff(base: .milliseconds(400), cap: .seconds(5))
    private var wanted: [ObjectIdentifier: Wanted] = [:]
    private var channels: [UInt16: OpenChannel] = [:]
    private var commands = FIFO<ConsumerInbox.Command>()
    private var lastEpoch: UInt64 = 0
    /// When the verdicts that wait are to be told.
    private var settleAt: Double?

    init(_ inbox: ConsumerInbox, _ thread: ConnectionThread) {
        self.inbox = inbox
        self.thread = thread
    }

    func opened(_ connection: Connection) throws(AMQPError) {
        for key in wanted.keys {
            wanted[key]?.retryAt = 0
            // The broker may not have noticed yet that the last connection is gone: the old name may still be taken.
            wanted[key]?.exclusiveQueue = nil
        }
    }

    func handle(_ event: BrokerEvent, _ connection: Connection) throws(AMQPError) {
        switch event {
        case .delivered(let content): delivered(content)
        case .cancelled(let channel):
            // Consuming again on the same channel makes RabbitMQ 3.10.8 fail: a new one.
            try connection.closeChannel(channel)
            lost(channel, "the broker cancelled the consumer: its queue is gone or moved")
        case .channelClosed(let channel, let error): lost(channel, error.description)
        case .acknowledged, .refused, .returned, .blocked, .unblocked: break
        }
    }

    func turn(_ connection: Connection, _ now: Double) throws(AMQPError) -> Double? {
        let waiting = inbox.waiting
        if waiting.settlements > 0, settleAt == nil { settleAt = now + Self.gathering }
        if waiting.command || waiting.settlements >= ConsumerInbox.lot || now >= settleAt ?? .infinity {
            let (settlements, commands) = inbox.take()
            for command in commands { self.commands.append(command) }
            try settle(settlements, connection, now, atOnce: !commands.isEmpty)
        }
        while let command = self.commands.popFirst() {
            switch command {
            case .open(let subscription): want(subscription)
            case .close(let subscription, let done):
                defer { done() }
                subscription.setActive(false)
                guard let channel = wanted.removeValue(forKey: ObjectIdentifier(subscription))?.channel else {
                    continue
                }
                channels[channel] = nil
                try connection.closeChannel(channel)
            case .count(let queue, let done): try count(queue, connection, done)
            }
        }
        for key in wanted.keys { try openIfDue(key, connection, now) }
        let retryAt = wanted.values.lazy.filter { $0.channel == nil }.map(\.retryAt).min()
        return [retryAt, settleAt].compactMap(\.self).min()
    }

    func disconnected(_ reason: String) {
        settleAt = nil
        for channel in channels.keys { lost(channel, reason) }
    }

    func turnOffline() {
        for command in inbox.take().commands { commands.append(command) }
        while let command = commands.popFirst() {
            switch command {
            case .open(let subscription): want(subscription)
            case .close(let subscription, let done):
                wanted[ObjectIdentifier(subscription)] = nil
                done()
            case .count: command.end()
            }
        }
    }

    var isIdle: Bool { settleAt == nil && inbox.waiting.settlements == 0 }

    private func count(
        _ queue: String, _ connection: Connection, _ done: @Sendable (Result<Int, AMQPError>) -> Void
    ) throws(AMQPError) {
        do {
            done(.success(try connection.count(of: queue)))
        } catch {
            done(.failure(error))
            guard error.kind == .channel else { throw error }
        }
    }

    private func want(_ subscription: AMQPSubscription) {
        wanted[ObjectIdentifier(subscription)] = Wanted(subscription: subscription)
    }

    private func delivered(_ content: BrokerEvent.Content) {
        guard let open = channels[content.channel] else { return }
        channels[content.channel]?.ledger.delivered(content.tag)
        open.subscription.onDelivery(
            AMQPDelivery(
                message: content.message, exchange: content.exchange, routingKey: content.routingKey, queue: open.queue,
                redelivered: content.redelivered, deliveryCount: content.deliveryCount, epoch: open.epoch,
                tag: content.tag, channel: content.channel, inbox: open.isAcknowledged ? inbox : nil))
    }

    private func settle(
        _ settlements: [ConsumerInbox.Settlement], _ connection: Connection, _ now: Double, atOnce: Bool
    ) throws(AMQPError) {
        for settlement in settlements where channels[settlement.channel]?.epoch == settlement.epoch {
            channels[settlement.channel]?.ledger.settle(settlement.tag, settlement.verdict)
        }
        settleAt = nil
        var frames: [(channel: UInt16, frame: AcknowledgementLedger.Frame)] = []
        for channel in channels.keys {
            frames += takeFrames(channel, now, atOnce: atOnce).map { (channel, $0) }
            if channels[channel]?.looseSince != nil { settleAt = now + Self.gathering }
        }
        try connection.together(frames.count) { () throws(AMQPError) in
            for (channel, frame) in frames {
                switch frame {
                case .acknowledge(let tag, let multiple): try connection.acknowledge(tag, multiple: multiple, channel)
                case .reject(let tag): try connection.reject(tag, channel)
                }
            }
        }
    }

    private func takeFrames(_ channel: UInt16, _ now: Double, atOnce: Bool) -> [AcknowledgementLedger.Frame] {
        guard var open = channels[channel] else { return [] }
        let frames = open.ledger.takeFrames(loose: atOnce || now - (open.looseSince ?? now) >= Self.longestLoose)
        open.looseSince = open.ledger.hasLoose ? open.looseSince ?? now : nil
        channels[channel] = open
        return frames
    }

    private func openIfDue(_ key: ObjectIdentifier, _ connection: Connection, _ now: Double) throws(AMQPError) {
        guard let one = wanted[key], one.channel == nil, now >= one.retryAt else { return }
        do {
            let channel = try open(key, one.subscription, connection)
            wanted[key]?.channel = channel
            wanted[key]?.failures = 0
        } catch  where error.kind == .channel {
            let failures = one.failures + 1
            wanted[key]?.failures = failures
            wanted[key]?.retryAt = now + backoff.delay(after: failures).seconds
            thread.log.warning("cannot consume", ["connection": thread.name, "reason": error.description])
        }
    }

    private func open(
        _ key: ObjectIdentifier, _ subscription: AMQPSubscription, _ connection: Connection
    ) throws(AMQPError) -> UInt16 {
        let channel = try connection.openChannel()
        let queue: String
        let isAcknowledged: Bool
        switch subscription.source {
        case .queue(let name, let prefetch):
            queue = name
            isAcknowledged = true
            try connection.setPrefetch(prefetch, channel)
        case .exclusive(let exchange, let prefix):
            // The same name when tried again, so that a binding that fails does not leave one queue after the other.
            queue = wanted[key]?.exclusiveQueue ?? prefix + String(UInt64.random(in: 0...UInt64.max), radix: 16)
            wanted[key]?.exclusiveQueue = queue
            isAcknowledged = false
            try connection.declareExclusive(queue, boundTo: exchange, channel)
        }
        try connection.consume(queue, noAck: !isAcknowledged, channel)
        lastEpoch += 1
        channels[channel] = OpenChannel(
            subscription: subscription, queue: queue, epoch: lastEpoch, isAcknowledged: isAcknowledged)
        subscription.setActive(true)
        return channel
    }

    /// The channel is gone: its subscription gets a new one in a moment.
    private func lost(_ channel: UInt16, _ reason: String) {
        guard let open = channels.removeValue(forKey: channel) else { return }
        let key = ObjectIdentifier(open.subscription)
        wanted[key]?.channel = nil
        wanted[key]?.retryAt = monotonicSeconds() + backoff.delay(after: 1).seconds
        open.subscription.setActive(false)
        open.subscription.onEnd(reason)
    }
}
