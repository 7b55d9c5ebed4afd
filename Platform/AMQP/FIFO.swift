/// A queue over one array: first in, first out, each operation in constant time on average.
struct FIFO<Element> {
    private var storage: [Element?] = []
    private var head = 0

    var count: Int { storage.count - head }
    var isEmpty: Bool { head == storage.count }
    var first: Element? { isEmpty ? nil : storage[head] }

    mutating func append(_ element: Element) { storage.append(element) }

    mutating func popFirst() -> Element? {
        guard head < storage.count else { return nil }
        defer {
            storage[head] = nil
            head += 1
            // Moving the rest only when half is empty keeps the cost of a pop constant on average.
            if head > 64, head * 2 > storage.count {
                storage.removeFirst(head)
                head = 0
            }
        }
        return storage[head]
    }

    /// Takes everything out, oldest first.
    mutating func removeAll() -> [Element] {
        defer {
            storage = []
            head = 0
        }
        return storage[head...].compactMap { $0 }
    }
}
