import Shared

extension User {
    /// Makes `new` all the handles the user has.
    mutating func replaceHandles(with new: [Handle]) {
        give(up: handles.map(\.handle).filter { !new.contains($0) })
        addHandles(new)
    }

    /// Adds what is not there yet, in this order.
    ///
    /// Beyond the limit the oldest go, save the canonical one.
    mutating func addHandles(_ new: [Handle]) {
        for handle in new where !handles.contains(where: { $0.handle == handle }) {
            handles.append(OwnedHandle(handle: handle, isCanonical: false))
        }
        formerHandles.removeAll(where: new.contains)
        chooseCanonicalHandle()
        while handles.count > Self.mostHandles, let oldest = handles.first(where: { !$0.isCanonical }) {
            give(up: [oldest.handle])
        }
    }

    /// Gives up what is another user's now.
    mutating func loseHandles(_ lost: [Handle]) {
        give(up: handles.map(\.handle).filter(lost.contains))
        chooseCanonicalHandle()
    }

    private mutating func give(up lost: [Handle]) {
        handles.removeAll { lost.contains($0.handle) }
        formerHandles += lost
        formerHandles.removeFirst(max(0, formerHandles.count - Self.mostFormerHandles))
    }

    /// The first phone number, or else the first handle.
    ///
    /// Once chosen it stays, since the user's state lives with it.
    private mutating func chooseCanonicalHandle() {
        guard canonicalHandle == nil,
            let index = handles.firstIndex(where: \.handle.isPhoneNumber) ?? handles.indices.first
        else { return }
        handles[index].isCanonical = true
    }
}
