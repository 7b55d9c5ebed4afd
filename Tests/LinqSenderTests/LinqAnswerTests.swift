import HTTPClient
import Testing

@testable import LinqSender

@Suite struct `Linq's answers` {
    private func answer(_ status: Int, _ code: Int? = nil, headers: [(name: String, value: String)] = []) -> LinqAnswer
    {
        let body = code.map { "{\"success\":false,\"error\":{\"status\":\(status),\"code\":\($0)}}" } ?? ""
        return LinqAnswer(HTTPClientResponse(status: status, headers: headers, body: Array(body.utf8)))
    }

    @Test(arguments: [200, 201, 202, 204]) func `2xx is accepted, with or without a message id`(status: Int) {
        #expect(answer(status) == .accepted)
    }

    @Test(arguments: [
        (400, 1001), (400, 1005), (404, 2001), (409, 2013), (409, 2023), (403, 2008), (403, 2026), (422, 4005),
        (404, 0),
    ])
    func `what can never go through is refused`(status: Int, code: Int) {
        #expect(answer(status, code) == .refused(reason: "\(status)/\(code)"))
    }

    @Test(arguments: [(500, 3001), (504, 3005), (503, 4004), (500, 2022), (502, 0), (408, 0)])
    func `trouble on Linq's side passes`(status: Int, code: Int) {
        #expect(answer(status, code) == .later(after: nil, reason: "\(status)/\(code)"))
    }

    @Test func `conflicts that pass are tried again, the others are not`() {
        #expect(answer(409, 2009) == .later(after: .seconds(2), reason: "409/2009"))
        #expect(answer(404, 2007) == .later(after: .seconds(2), reason: "404/2007"))
        #expect(answer(409, 1006) == .refused(reason: "409/1006"))
    }

    @Test func `Retry-After is honoured, from the header or the body`() {
        #expect(
            answer(429, 1007, headers: [(name: "retry-after", value: "45")])
                == .later(after: .seconds(45), reason: "429/1007"))
        let body = #"{"success":false,"error":{"status":429,"code":1007,"retry_after":7}}"#
        #expect(
            LinqAnswer(HTTPClientResponse(status: 429, headers: [], body: Array(body.utf8)))
                == .later(after: .seconds(7), reason: "429/1007"))
        for odd in ["-1", "0", "soon", "nan"] {
            #expect(
                answer(429, 1007, headers: [(name: "retry-after", value: odd)])
                    == .later(after: nil, reason: "429/1007"))
        }
    }

    @Test func `an opt-out is nobody's fault`() { #expect(answer(403, 2024) == .optedOut) }

    @Test(arguments: [(401, 2004), (403, 2005), (403, 2006), (403, 2011)])
    func `a token that is not good stops everything, and loses nothing`(status: Int, code: Int) {
        #expect(answer(status, code) == .denied(reason: "\(status)/\(code)"))
    }

    @Test func `an HTML page counts by its status`() {
        let page = Array("<!DOCTYPE html><html>".utf8)
        #expect(
            LinqAnswer(HTTPClientResponse(status: 502, headers: [], body: page)) == .later(after: nil, reason: "502"))
        #expect(LinqAnswer(HTTPClientResponse(status: 404, headers: [], body: page)) == .refused(reason: "404"))
    }
}
