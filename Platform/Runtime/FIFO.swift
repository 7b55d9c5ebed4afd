/// A queue over one array: first in, first out, each operation in constant time on average.
package struct FIFO<Element> {
    private var elements: [Element?] = []
    private var head = 0

    package init() {}

    package var count: Int { elements.count - head }
    package var isEmpty: Bool { head == elements.count }
    package var first: Element? { isEmpty ? nil : elements[head] }

    /// What is in it, oldest first.
    package var all: [Element] { elements[head...].compactMap { $0 } }

    /// The oldest ones, `count` at the most.
    package func prefix(_ count: Int) -> [Element] { elements[head...].prefix(count).compactMap { $0 } }

    package mutating func append(_ element: Element) { elements.append(element) }

    package mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head].take()
        head += 1
        // Moving the rest only when half is empty keeps the cost of a pop constant on average.
        if head == elements.count {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 1024, head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Puts an element back that was just taken.
    package mutating func prepend(_ element: Element) {
        if head > 0 {
            head -= 1
            elements[head] = element
        } else {
            elements.insert(element, at: 0)
        }
    }

    /// Takes everything out, oldest first.
    package mutating func removeAll() -> [Element] { removeAll { _ in true } }

    /// Takes out what `isChosen` chooses, oldest first.
    package mutating func removeAll(where isChosen: (Element) -> Bool) -> [Element] {
        var chosen: [Element] = []
        var kept: [Element?] = []
        for case let element? in elements[head...] {
            if isChosen(element) { chosen.append(element) } else { kept.append(element) }
        }
        elements = kept
        head = 0
        return chosen
    }
}
