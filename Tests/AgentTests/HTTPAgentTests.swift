import Crypto
import Foundation
import HTTPServer
import Runtime
import Shared
import Testing

@testable import Agent

/// An agent behind a URL, whose other side answers well, badly, late or not at all.
struct HTTPAgentTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw7Jxx2Oll+OE="
    private static let coachState = #"{"calories":640,"goal":2100,"lastMeal":"Oats","streak":6}"#

    // MARK: - What is sent

    @Test func `an event goes out as described and signed`() async throws {
        try await ask([.status(204)], showing: Self.coachState) { standIn, outcome in
            #expect(outcome.response == AgentResponse())
            #expect(outcome.model == nil)
            let request = try #require(standIn.requests.first)
            #expect(request.method == "POST")
            #expect(request.header("content-type") == "application/json")
            #expect(
                String(decoding: request.body, as: UTF8.self) == """
                    {"event":{"chat":{"id":"c1","isGroup":false},"id":"evt-1","isOptOut":false,\
                    "isReconciled":false,"kind":"message","mentionsLine":false,"messageID":"m1",\
                    "parts":[{"type":"text","value":"~600 cal"}],\
                    "receivedAt":"2026-02-05T19:31:13.736Z","sender":"+12025559876","service":"iMessage",\
                    "text":"~600 cal"},\
                    "island":{"attributesType":"CoachAttributes","contentState":\(Self.coachState)},\
                    "session":{"id":"s1","isNew":false,"startedAt":"2026-02-05T19:31:13.736Z"},\
                    "user":{"handle":"+12025559876","id":"user-42"}}
                    """)
            let key = try #require(Data(base64Encoded: String(Self.secret.dropFirst(6))))
            let signed = HMACKey(Array(key)).authenticate(Array("evt-1.1770319873.".utf8), request.body)
            #expect(request.header("webhook-id") == "evt-1")
            #expect(request.header("webhook-timestamp") == "1770319873")
            #expect(request.header("webhook-signature") == "v1," + Data(signed).base64EncodedString())
        }
    }

    @Test func `the endpoint can carry on the trace of the text`() async throws {
        let told = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        try await Trace.$current.withValue(.resume(told, state: "one=1", tracer: nil)) {
            try await ask([.status(204)]) { standIn, _ in
                #expect(standIn.requests.map { $0.header("traceparent") } == [told])
                #expect(standIn.requests.map { $0.header("tracestate") } == ["one=1"])
            }
        }
        try await ask([.status(204)]) { standIn, _ in
            #expect(standIn.requests.map { $0.header("traceparent") } == [nil])
            #expect(standIn.requests.map { $0.header("tracestate") } == [nil])
        }
    }

    @Test func `the signature is that of the published vector`() throws {
        let signer = try WebhookSigner(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])
        let headers = signer.headers(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", seconds: 1_614_265_330, body: Array(#"{"test": 2432232314}"#.utf8))
        #expect(headers.map(\.value).last == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        let both = try WebhookSigner([Self.secret, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])
        #expect(both.headers(id: "a", seconds: 1, body: [])[2].value.split(separator: " ").count == 2)
    }

    @Test func `an id that could move the border to the timestamp is sent as a UUID, always the same`() {
        #expect(WebhookSigner.webhookID("9f0c-a_Z") == "9f0c-a_Z")
        let odd = ["a.1", "a b", "a\r\nx: y", "", "é", String(repeating: "x", count: 129)]
        for id in odd {
            #expect(UUID(uuidString: WebhookSigner.webhookID(id)) != nil)
            #expect(WebhookSigner.webhookID(id) == WebhookSigner.webhookID(id))
        }
        #expect(Set(odd.map(WebhookSigner.webhookID)).count == odd.count)
    }

    @Test func `every kind of event has its name and its fields`() throws {
        let chat = Chat(id: "c1", isGroup: true)
        let events: [(AgentEvent, String, [String: AnyJSON])] = [
            (Events.message("hi", isGroup: true, mentionsLine: true), "message", ["mentionsLine": .bool(true)]),
            (Events.message("STOP"), "message", ["isOptOut": .bool(true)]),
            (Events.message("STOP", isGroup: true), "message", ["isOptOut": .bool(false)]),
            (
                .reaction(
                    InboundReaction(
                        chat: chat, sender: "+1", service: .sms, messageID: "m", reaction: "love", emoji: nil,
                        isAdded: true, receivedAt: Events.now)), "reaction",
                ["reaction": .string("love"), "isAdded": .bool(true), "service": .string("SMS")]
            ),
            (
                .edit(
                    InboundEdit(
                        messageID: "m", chat: chat, sender: "+1", partIndex: 2, text: "new", receivedAt: Events.now)),
                "edit", ["text": .string("new"), "partIndex": .integer(2)]
            ),
            (Events.custom("sync", #"{"a":[1]}"#), "custom", ["payload": .object(["a": .array([.integer(1)])])]),
            (Events.custom("sync", "{"), "custom", ["payload": .string("{"), "name": .string("sync")]),
            (.sessionEnding, "sessionEnding", ["receivedAt": .string("2026-02-05T19:31:13.736Z")]),
        ]
        for (event, kind, fields) in events {
            let body = try HTTPAgentRequest(event, Events.context(), attributesType: "X").encoded()
            let json = try #require(AnyJSON(parsing: body))
            #expect(json["event"]?["kind"] == .string(kind))
            #expect(json["island"] == .object(["attributesType": .string("X")]))
            for (name, value) in fields { #expect(json["event"]?[name] == value, "\(kind).\(name)") }
        }
    }

    // MARK: - What comes back

    @Test func `replies and a state come back whole`() async throws {
        let answer = """
            {"replies":[{"text":"Logged","effect":{"type":"screen","name":"confetti"},"replyTo":"m1"},
                        {"link":"https://example.com/a"},{"media":["https://example.com/bowl.jpg"]}],
             "island":{"attributesType":"CoachAttributes","show":\(Self.coachState),
                       "alert":{"title":"Goal","body":"Reached","sound":"default"},"priority":5,"staleAfter":"15m"}}
            """
        try await ask([.json(answer)]) { _, outcome in
            #expect(
                outcome.response
                    == AgentResponse(
                        replies: [
                            AgentReply(
                                "Logged", effect: ReplyRequest.Effect(type: "screen", name: "confetti"),
                                replyTo: "m1"),
                            AgentReply("", link: "https://example.com/a"),
                            AgentReply("", media: ["https://example.com/bowl.jpg"]),
                        ],
                        island: .show(
                            Array(Self.coachState.utf8),
                            alert: DesiredIsland.Alert(title: "Goal", body: "Reached", sound: "default"),
                            priority: .whenConvenient, staleAfter: .seconds(900))))
            #expect(outcome.refusal == nil)
        }
    }

    @Test func `an island may be left alone or ended`() async throws {
        let cases: [(String, AgentIsland<[UInt8]>)] = [
            ("{}", .unchanged), (#"{"replies":[],"island":null}"#, .unchanged),
            (#"{"island":{"end":null}}"#, .end(nil)),
            (#"{"island":{"end":\#(Self.coachState)}}"#, .end(Array(Self.coachState.utf8))),
        ]
        for (answer, island) in cases {
            try await ask([.json(answer)]) { _, outcome in #expect(outcome.response.island == island, "\(answer)") }
        }
    }

    @Test func `a state that iOS would drop is refused by path and type while the replies go out`() async throws {
        let cases: [(String, ContentStateError)] = [
            (
                #"{"show":{"calories":600.5,"goal":1,"streak":1,"lastMeal":""}}"#,
                .undecodable(path: "calories", expected: "Int", found: "the number 600.5")
            ),
            (
                #"{"show":{"calories":1,"goal":1,"streak":1,"last_meal":""}}"#,
                .undecodable(path: "lastMeal", expected: "String", found: #"no such key, but "last_meal""#)
            ),
            (#"{"show":[1]}"#, .notAnObject(found: "an array")),
            (
                #"{"show":{},"attributesType":"OrderAttributes"}"#,
                .otherKind("OrderAttributes", expected: "CoachAttributes")
            ),
        ]
        for (island, refusal) in cases {
            try await ask([.json(#"{"replies":[{"text":"ok"}],"island":\#(island)}"#)]) { _, outcome in
                #expect(outcome.refusal == refusal)
                #expect(outcome.response == AgentResponse(replies: [AgentReply("ok")], island: .unchanged))
            }
        }
    }

    @Test(arguments: [
        ("no JSON", "", "JSON"),
        ("[]", "", "an object"),
        (#"{"reply":"hi"}"#, "", "only the fields replies, island"),
        (#"{"replies":"hi"}"#, "replies", "an array"),
        (#"{"replies":["hi"]}"#, "replies[0]", "an object"),
        (#"{"replies":[{"text":"a"},{"text":3}]}"#, "replies[1].text", "text"),
        (#"{"replies":[{}]}"#, "replies[0].text", "text"),
        (#"{"replies":[{"text":"a","media":["http://a/b"]}]}"#, "replies[0].media[0]", "an https:// address"),
        (#"{"replies":[{"text":"a","effect":{"type":"screen"}}]}"#, "replies[0].effect.name", "text"),
        (#"{"island":{}}"#, "island", "show or end"),
        (#"{"island":{"show":{},"end":null}}"#, "island", "show or end, not both"),
        (#"{"island":{"show":{},"priority":7}}"#, "island.priority", "10 or 5"),
        (#"{"island":{"show":{},"priority":9223372036854775807}}"#, "island.priority", "10 or 5"),
        (#"{"island":{"show":{},"alert":{"title":"a"}}}"#, "island.alert.body", "text"),
        (
            #"{"island":{"show":{},"staleAfter":-1}}"#, "island.staleAfter",
            "seconds, or text such as \"15m\", of a week at most"
        ),
        (
            #"{"island":{"shown":{}}}"#, "island",
            "only the fields show, end, alert, priority, staleAfter, attributesType"
        ),
    ])
    func `an answer that is not as described is an error that names the path`(
        answer: String, path: String, expected: String
    ) async throws {
        try await StandIn.with([.text(answer)]) { standIn, endpoint in
            let error = await #expect(throws: UnexpectedAnswer.self) {
                try await agent(endpoint).respond(to: .sessionEnding, model: nil, context: Events.context())
            }
            #expect(error?.path == path)
            #expect(error?.expected == expected)
            #expect(standIn.requests.count == 1)
        }
    }

    @Test func `an error does not repeat what may be a user's words`() throws {
        let answer = AnswerReader(.object(["replies": .string("my secret")]))
        let error = try #require(answer.field("replies")).unexpected("an array")
        #expect("\(error)" == "the answer is not as described: at replies expected an array, found text")
    }

    // MARK: - Trouble on the way

    @Test(arguments: [
        StandIn.Answer.status(500), .status(503, headers: ["Retry-After": "0"]), .status(429), .hangUp,
    ])
    func `what may pass is tried again under the same id with the same body`(trouble: StandIn.Answer) async throws {
        try await ask([trouble, trouble, .json(#"{"replies":[{"text":"ok"}]}"#)]) { standIn, outcome in
            #expect(outcome.response.replies == [AgentReply("ok")])
            #expect(standIn.requests.count == 3)
            #expect(Set(standIn.requests.map(\.body)).count == 1)
            #expect(Set(standIn.requests.map { $0.header("webhook-id") }) == ["evt-1"])
        }
    }

    @Test func `an answer that takes too long is asked for again, and then given up`() async throws {
        try await StandIn.with([.silence], timeout: .milliseconds(150)) { standIn, endpoint in
            let error = await #expect(throws: AgentEndpoint.Failure.self) {
                try await agent(endpoint).respond(to: Events.message("hi"), model: nil, context: Events.context())
            }
            guard case .noAnswer(_, tries: 3)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(standIn.requests.count == 3)
        }
    }

    @Test func `there is an end to the tries, and what will not pass is not tried again`() async throws {
        for (status, tries) in [(503, 3), (400, 1), (401, 1), (404, 1), (302, 1)] {
            try await StandIn.with([.status(status)]) { standIn, endpoint in
                await #expect(throws: AgentEndpoint.Failure.status(status, tries: tries)) {
                    try await agent(endpoint).respond(to: Events.message("hi"), model: nil, context: Events.context())
                }
                #expect(standIn.requests.count == tries)
            }
        }
    }

    private func agent(_ endpoint: AgentEndpoint) throws -> AnyAgent {
        let clock = WallClock { Events.now.date }
        return HTTPAgent(
            endpoint: endpoint, signer: try WebhookSigner([Self.secret]), kind: try .named("CoachAttributes"),
            clock: clock
        ).agent
    }

    private func ask(
        _ answers: [StandIn.Answer], showing state: String? = nil,
        _ body: (StandIn, AnyAgent.Outcome) throws -> Void
    ) async throws {
        try await StandIn.with(answers) { standIn, endpoint in
            let outcome = try await agent(endpoint).respond(
                to: Events.message("~600 cal"), model: nil, context: Events.context(showing: state))
            try body(standIn, outcome)
        }
    }
}
