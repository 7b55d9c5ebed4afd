/// Which deliveries of one channel are settled, and the fewest frames that tell the broker.
///
/// Delivery tags count from 1 on each channel. What is settled twice, or was never delivered, is ignored: the broker
/// would close the channel over it.
struct AcknowledgementLedger {
    enum Verdict: Sendable { case acknowledge, reject }

    enum Frame: Equatable {
        case acknowledge(UInt64, multiple: Bool)
        case reject(UInt64)
    }

    /// Every tag below is settled.
    private var lowestOpen: UInt64 = 1
    private var lastDelivered: UInt64 = 0
    /// The settled tags from `lowestOpen` on.
    private var settled: Set<UInt64> = []
    private var acknowledged: [UInt64] = []
    private var rejected: [UInt64] = []

    mutating func delivered(_ tag: UInt64) { lastDelivered = tag }

    mutating func settle(_ tag: UInt64, _ verdict: Verdict) {
        guard tag >= lowestOpen, tag <= lastDelivered, settled.insert(tag).inserted else { return }
        switch verdict {
        case .acknowledge: acknowledged.append(tag)
        case .reject: rejected.append(tag)
        }
    }

    /// Whether something is settled behind something that is not, and the broker was not told.
    var hasLoose: Bool { !acknowledged.isEmpty }

    /// The frames for what was settled since the last call: rejections, then all up to a tag at once, then single ones.
    ///
    /// - Parameter loose: Whether what is settled behind something that is not is told, too. A little later the same may
    ///   take one frame in place of many.
    mutating func takeFrames(loose: Bool = true) -> [Frame] {
        while settled.remove(lowestOpen) != nil { lowestOpen += 1 }
        var frames = rejected.map(Frame.reject)
        let prefix = acknowledged.filter { $0 < lowestOpen }
        // The broker must know the tag of a multiple acknowledgement, so it is one that is acknowledged just now.
        if let last = prefix.max() { frames.append(.acknowledge(last, multiple: prefix.count > 1)) }
        acknowledged.removeAll { $0 < lowestOpen }
        if loose {
            frames += acknowledged.map { .acknowledge($0, multiple: false) }
            acknowledged.removeAll(keepingCapacity: true)
        }
        rejected.removeAll(keepingCapacity: true)
        return frames
    }
}
