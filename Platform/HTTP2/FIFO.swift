/// First in, first out, without moving the rest at each removal.
struct FIFO<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var count: Int { elements.count - head }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head].take()
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 1024, head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    /// What is left, in order.
    var all: [Element] { elements[head...].compactMap { $0 } }

    /// Puts an element back that was just taken.
    mutating func prepend(_ element: Element) {
        if head > 0 {
            head -= 1
            elements[head] = element
        } else {
            elements.insert(element, at: 0)
        }
    }

    /// Takes out what `isChosen` chooses, in order.
    mutating func removeAll(where isChosen: (Element) -> Bool) -> [Element] {
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
