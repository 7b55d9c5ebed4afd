/// The whole body of a Live Activity push, with the state's bytes in it as they are.
///
/// The keys are those of Apple's "Starting and updating Live Activities with ActivityKit push notifications", always in
/// the same order. Times are UNIX seconds.
public enum PushBody {
    /// What APNs takes, in bytes ("Sending notification requests to APNs").
    public static let limit = 4096

    /// Starts a card; the alert must have a title and a body.
    ///
    /// - Parameter asksForUpdateToken: sends `input-push-token`, which iOS 18 answers with an update token.
    public static func start(
        timestamp: Int64, contentState: [UInt8], attributesType: String, attributes: [UInt8],
        alert: DesiredIsland.Alert, staleDate: Int64?, relevanceScore: Double? = nil, asksForUpdateToken: Bool = false
    ) throws(ContentStateError) -> [UInt8] {
        guard alert.title.contains(where: { !$0.isWhitespace }), alert.body.contains(where: { !$0.isWhitespace })
        else { throw .emptyAlert }
        var body = Body(timestamp: timestamp, event: "start")
        try body.add("content-state", object: contentState)
        body.add("attributes-type", string: attributesType)
        try body.add("attributes", object: attributes)
        body.add(alert)
        try body.add(staleDate: staleDate, relevanceScore: relevanceScore)
        if asksForUpdateToken { body.add("input-push-token", raw: "1") }
        return try body.finish()
    }

    /// Gives a running card a new state.
    public static func update(
        timestamp: Int64, contentState: [UInt8], staleDate: Int64?, alert: DesiredIsland.Alert? = nil,
        relevanceScore: Double? = nil
    ) throws(ContentStateError) -> [UInt8] {
        var body = Body(timestamp: timestamp, event: "update")
        try body.add("content-state", object: contentState)
        if let alert { body.add(alert) }
        try body.add(staleDate: staleDate, relevanceScore: relevanceScore)
        return try body.finish()
    }

    /// Ends a card; without a state the last one stays until it is dismissed.
    public static func end(
        timestamp: Int64, contentState: [UInt8]?, dismissalDate: Int64?
    ) throws(ContentStateError) -> [UInt8] {
        var body = Body(timestamp: timestamp, event: "end")
        if let contentState { try body.add("content-state", object: contentState) }
        if let dismissalDate { body.add("dismissal-date", raw: "\(dismissalDate)") }
        return try body.finish()
    }
}

/// A body as it grows.
///
/// It knows its large fields, so that it can name them if it grows too large.
private struct Body {
    private var bytes: [UInt8] = []
    private var sizes: [ContentStateError.FieldSize] = []

    init(timestamp: Int64, event: String) {
        bytes.reserveCapacity(512)
        bytes += #"{"aps":{"timestamp":\#(timestamp),"event":"\#(event)""#.utf8
    }

    mutating func add(_ key: String, raw: String) {
        bytes += #","\#(key)":"#.utf8
        bytes += raw.utf8
    }

    mutating func add(_ key: String, string: String) {
        bytes += #","\#(key)":"#.utf8
        JSONText.append(string, to: &bytes)
    }

    mutating func add(_ key: String, object: [UInt8]) throws(ContentStateError) {
        guard let fields = JSONText.fields(of: object) else {
            throw object.first == UInt8(ascii: "{") ? .notJSON : .notAnObject(found: "something else")
        }
        sizes += fields.map { ContentStateError.FieldSize(path: "\(key).\($0.name)", bytes: $0.bytes) }
        bytes += #","\#(key)":"#.utf8
        bytes += object
    }

    mutating func add(_ alert: DesiredIsland.Alert) {
        bytes += #","alert":{"title":"#.utf8
        add("alert.title", measured: alert.title)
        bytes += #","body":"#.utf8
        add("alert.body", measured: alert.body)
        if let sound = alert.sound {
            bytes += #","sound":"#.utf8
            add("alert.sound", measured: sound)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func add(_ path: String, measured string: String) {
        let before = bytes.count
        JSONText.append(string, to: &bytes)
        sizes.append(ContentStateError.FieldSize(path: path, bytes: bytes.count - before))
    }

    mutating func add(staleDate: Int64?, relevanceScore: Double?) throws(ContentStateError) {
        if let staleDate { add("stale-date", raw: "\(staleDate)") }
        guard let relevanceScore else { return }
        guard relevanceScore.isFinite else {
            throw .unencodable(path: "relevance-score", reason: "\(relevanceScore) is no JSON number")
        }
        add("relevance-score", raw: "\(relevanceScore)")
    }

    /// Closes the body, if it is small enough.
    mutating func finish() throws(ContentStateError) -> [UInt8] {
        bytes += "}}".utf8
        guard bytes.count <= PushBody.limit else {
            let largest = sizes.sorted { ($1.bytes, $0.path) < ($0.bytes, $1.path) }.prefix(5)
            throw .tooLarge(bytes: bytes.count, limit: PushBody.limit, largest: Array(largest))
        }
        return bytes
    }
}
