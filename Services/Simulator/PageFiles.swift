import HTTPServer

/// The page's files, which the build puts into the program.
enum PageFiles {
    private static let files: [String: [UInt8]] = [
        "": PackageResources.index_html,
        "actions.js": PackageResources.actions_js,
        "announcer.js": PackageResources.announcer_js,
        "balance.js": PackageResources.balance_js,
        "base.css": PackageResources.base_css,
        "bubble.js": PackageResources.bubble_js,
        "cards.css": PackageResources.cards_css,
        "checklist.js": PackageResources.checklist_js,
        "clock.js": PackageResources.clock_js,
        "coach.js": PackageResources.coach_js,
        "commands.js": PackageResources.commands_js,
        "compose.css": PackageResources.compose_css,
        "composer.js": PackageResources.composer_js,
        "connection.js": PackageResources.connection_js,
        "delivery.js": PackageResources.delivery_js,
        "dom.js": PackageResources.dom_js,
        "faults.js": PackageResources.faults_js,
        "format.js": PackageResources.format_js,
        "icon.svg": PackageResources.icon_svg,
        "icons.js": PackageResources.icons_js,
        "island.css": PackageResources.island_css,
        "island.js": PackageResources.island_js,
        "kinds.js": PackageResources.kinds_js,
        "lock.css": PackageResources.lock_css,
        "lockscreen.js": PackageResources.lockscreen_js,
        "main.js": PackageResources.main_js,
        "menu.css": PackageResources.menu_css,
        "menu.js": PackageResources.menu_js,
        "messages.css": PackageResources.messages_css,
        "order.js": PackageResources.order_js,
        "ownapp.js": PackageResources.ownapp_js,
        "panels.css": PackageResources.panels_css,
        "parts.js": PackageResources.parts_js,
        "phone.css": PackageResources.phone_css,
        "phone.js": PackageResources.phone_js,
        "photo-bowl.svg": PackageResources.photo_bowl_svg,
        "photo-salad.svg": PackageResources.photo_salad_svg,
        "photo-toast.svg": PackageResources.photo_toast_svg,
        "queues.js": PackageResources.queues_js,
        "registry.js": PackageResources.registry_js,
        "session.js": PackageResources.session_js,
        "store.js": PackageResources.store_js,
        "tapback.js": PackageResources.tapback_js,
        "thread.js": PackageResources.thread_js,
        "trails.js": PackageResources.trails_js,
        "ways.css": PackageResources.ways_css,
    ]

    private static let types = [
        "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml",
    ]

    /// Nothing is loaded from anywhere else, no script or style stands in the page itself, and nobody frames it.
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
        form-action 'none'; frame-ancestors 'none'
        """

    static func answer(_ request: HTTPRequest) -> HTTPResponse {
        let name = String(request.path.dropFirst())
        guard let bytes = files[name] else { return .problem(404, title: "Not Found") }
        guard ["GET", "HEAD"].contains(request.method) else { return .problem(405, title: "Method Not Allowed") }
        let type = name.split(separator: ".").last.flatMap { types[String($0)] } ?? "text/html; charset=utf-8"
        return HTTPResponse(
            status: 200,
            headers: [
                ("Content-Type", type), ("Cache-Control", "no-cache"), ("Content-Security-Policy", policy),
                ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
            ], body: bytes)
    }
}
