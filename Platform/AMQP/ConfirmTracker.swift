/// Which published messages wait for the broker's word on a channel in confirm mode.
///
/// The broker numbers publishes from 1 on each channel and answers with `basic.ack` or `basic.nack` by number, one or
/// all up to one; what it could not route it first returns by content. A returned message is acknowledged all the same.
struct ConfirmTracker<Item> {
    enum Outcome: Equatable { case confirmed, refused, unroutable }

    private enum Phase { case waiting, returned, abandoned, settled }

    private struct Entry {
        var item: Item?
        var phase = Phase.waiting
    }

    /// Every publish from `firstTag` on; those before it are settled.
    private var entries: [Entry] = []
    private var head = 0
    private var firstTag: UInt64 = 1
    /// No publish before this one waits for its outcome.
    private var openFrom: UInt64 = 1

    /// How many publishes the broker has not answered, abandoned ones included: it still works on them.
    private(set) var unanswered = 0

    private var nextTag: UInt64 { firstTag + UInt64(entries.count - head) }

    /// Notes a publish, in the order of publishing.
    mutating func sent(_ item: Item) {
        entries.append(Entry(item: item))
        unanswered += 1
    }

    /// Notes that the oldest waiting message that `matches` came back.
    mutating func returned(_ matches: (Item) -> Bool) {
        for index in head..<entries.count where entries[index].phase == .waiting {
            guard let item = entries[index].item, matches(item) else { continue }
            entries[index].phase = .returned
            return
        }
    }

    /// Notes an answer and calls `complete` for each message that has its outcome now, oldest first.
    ///
    /// Answers for numbers that were never given, or are answered already, are ignored.
    mutating func answered(
        _ tag: UInt64, multiple: Bool, confirmed: Bool, _ complete: (Item, Outcome) -> Void
    ) {
        // Number 0 with `multiple` means all (AMQP 0-9-1, basic.ack).
        let last = multiple && tag == 0 ? nextTag - 1 : tag
        guard last >= firstTag, last < nextTag else { return }
        for tag in (multiple ? firstTag : last)...last {
            settle(index(tag), confirmed, complete)
        }
        removeSettled()
    }

    private mutating func settle(_ index: Int, _ confirmed: Bool, _ complete: (Item, Outcome) -> Void) {
        let entry = entries[index]
        guard entry.phase != .settled else { return }
        entries[index] = Entry(item: nil, phase: .settled)
        unanswered -= 1
        guard let item = entry.item else { return }
        complete(item, confirmed ? (entry.phase == .returned ? .unroutable : .confirmed) : .refused)
    }

    private mutating func removeSettled() {
        while head < entries.count, entries[head].phase == .settled {
            head += 1
            firstTag += 1
        }
        openFrom = max(openFrom, firstTag)
        if head > 64, head * 2 > entries.count {
            entries.removeFirst(head)
            head = 0
        }
    }

    /// The oldest message without an outcome.
    mutating func oldestOpen() -> Item? {
        while openFrom < nextTag {
            if let item = entries[index(openFrom)].item { return item }
            openFrom += 1
        }
        return nil
    }

    /// Gives up waiting for the oldest message without an outcome and returns it; a late answer is ignored.
    mutating func abandonOldest() -> Item? {
        guard let item = oldestOpen() else { return nil }
        entries[index(openFrom)] = Entry(item: nil, phase: .abandoned)
        openFrom += 1
        return item
    }

    /// Forgets the channel, and returns the messages without an outcome, oldest first.
    mutating func reset() -> [Item] {
        defer { self = ConfirmTracker() }
        return entries[head...].compactMap(\.item)
    }

    private func index(_ tag: UInt64) -> Int { head + Int(tag - firstTag) }
}
