import HTTPServer

/// The page's files, which the build puts into the program.
enum PageFiles {
    private static let files: [String: (type: String, bytes: [UInt8])] = [
        "/": ("text/html; charset=utf-8", PackageResources.index_html),
        "/page.css": ("text/css; charset=utf-8", PackageResources.page_css),
        "/page.js": ("text/javascript; charset=utf-8", PackageResources.page_js),
    ]

    static func answer(_ request: HTTPRequest) -> HTTPResponse {
        guard let file = files[request.path] else { return .problem(404, title: "Not Found") }
        guard ["GET", "HEAD"].contains(request.method) else { return .problem(405, title: "Method Not Allowed") }
        return HTTPResponse(
            status: 200,
            headers: [
                ("Content-Type", file.type), ("Cache-Control", "no-cache"),
                // Nothing is loaded from anywhere else, and no script stands in the page itself.
                ("Content-Security-Policy", "default-src 'self'; img-src 'self' data: https:"),
                ("X-Content-Type-Options", "nosniff"),
            ], body: file.bytes)
    }
}
