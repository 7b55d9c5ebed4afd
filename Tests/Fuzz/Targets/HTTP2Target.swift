import Crypto
import Foundation
import Glibc

@testable import HTTP2

/// What APNs answers on a connection with open requests: each request is completed once, whatever comes.
@Sendable func fuzzHTTP2(_ input: [UInt8]) {
    nonisolated(unsafe) var completions = 0
    let requests = 4
    do {
        let descriptor = open("/dev/null", O_RDWR)
        let frames = try FrameConnection(
            isServer: false, fileDescriptor: descriptor,
            tls: TLSStream(context, connectedTo: "localhost", fileDescriptor: descriptor))
        let session = ClientSession(frames, authority: "localhost", options: HTTP2ClientOptions())
        session.begin()
        for number in 0..<requests {
            let request = HTTP2Request(method: "POST", path: "/3/device/\(number)", body: Array("{}".utf8))
            let pending = PendingRequest(request: request, deadline: .infinity) { _ in completions += 1 }
            precondition(session.open(pending, at: 0), "a new connection takes no requests")
        }
        try frames.collectOutput()
        do {
            // In pieces, as a network would deliver it.
            for part in input.split(separator: 0xFE, omittingEmptySubsequences: true) {
                try part.withUnsafeBytes { try frames.take($0) }
                try frames.collectOutput()
            }
            session.tick(at: 1)
        } catch is ConnectionEnd {
            // As it should, with what is no HTTP/2.
        }
        session.end("the input is over")
    } catch { preconditionFailure("no connection: \(error)") }
    precondition(completions == requests, "\(completions) of \(requests) requests were completed")
}

private let context: TLSContext = {
    do { return try TLSContext.client(caFile: nil, alpn: ["h2"]) } catch { preconditionFailure("\(error)") }
}()
