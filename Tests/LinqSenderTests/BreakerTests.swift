import Testing

@testable import LinqSender

@Suite struct `Sending breaker` {
    /// A breaker that has just opened, at second 0.
    private func opened() -> Breaker {
        let breaker = Breaker()
        for _ in 0..<19 { #expect(breaker.failed(at: 0) == nil) }
        #expect(breaker.failed(at: 0) == 1)
        return breaker
    }

    @Test func `failures between successes change nothing`() {
        let breaker = Breaker()
        for _ in 0..<10 {
            for _ in 0..<19 { _ = breaker.failed(at: 0) }
            breaker.succeeded()
        }
        #expect(breaker.admission(at: 0) == .go)
    }

    @Test func `after many failures in a row nothing is sent for a while, then one probe`() {
        let breaker = opened()
        #expect(breaker.admission(at: 0.5) == .pause(.milliseconds(501)))
        // Answers to what was sent before make the pause no longer.
        #expect(breaker.failed(at: 0.5) == nil)
        #expect(breaker.admission(at: 1) == .go)
        #expect(breaker.admission(at: 1) == .wait)
        breaker.succeeded()
        #expect(breaker.admission(at: 6) == .go)
        #expect(breaker.admission(at: 6) == .go)
    }

    @Test func `each probe that fails doubles the pause, up to a minute`() {
        let breaker = opened()
        var now = 1.0
        for pause in [2.0, 4, 8, 16, 32, 60, 60] {
            #expect(breaker.admission(at: now) == .go)
            #expect(breaker.failed(at: now) == pause)
            now += pause
        }
    }
}
