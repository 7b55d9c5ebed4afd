/// A request, whole: its body has been read.
package struct HTTPRequest: Sendable {
    package let method: String
    /// The path as it was sent, percent-encoded.
    package var path: String { target.path }
    package let body: [UInt8]
    /// The client's IP address.
    package let remoteAddress: String
    let target: RequestTarget
    let fields: HeaderFields

    init(method: String, target: RequestTarget, fields: HeaderFields, body: [UInt8], remoteAddress: String) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
        self.remoteAddress = remoteAddress
    }

    /// A request made by hand, for a handler's tests; `nil` if the target is not one.
    package init?(
        method: String, target: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        remoteAddress: String = "127.0.0.1"
    ) {
        guard let target = RequestTarget(target) else { return nil }
        var fields = HeaderFields()
        for (name, value) in headers { fields.append(name: name.utf8, value: value.utf8) }
        self.init(method: method, target: target, fields: fields, body: body, remoteAddress: remoteAddress)
    }

    /// The path's parts between the slashes, each percent-decoded: `/v1/users/a%2Fb` is `v1`, `users`, `a/b`.
    ///
    /// Empty parts are kept, except the one before the first slash: `/a/` is `a` and an empty part, `/` is empty.
    package var segments: [String] { target.segments }

    /// The query's parameters in their order, decoded as forms are: a plus sign is a space.
    package var query: [(name: String, value: String)] { target.query }

    /// The value of the header `name` in any case; a header that is repeated is joined by ", ".
    package func header(_ name: String) -> String? { fields.value(of: name) }

    package var headers: [(name: String, value: String)] { fields.all }
}
