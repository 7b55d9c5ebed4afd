import Foundation

/// The time zone of a place, by its name in a text.
enum PlaceNames {
    /// The IANA name of the zone that `place` means ("europe/berlin", "Tokyo", "NYC"); `nil` for an unknown place.
    static func timeZone(of place: String) -> String? {
        let key = place.lowercased().replacingOccurrences(of: "_", with: " ")
        return others[key] ?? known[key]
    }

    /// Every IANA name, and each city that has given a zone its name.
    private static let known: [String: String] = {
        var names: [String: String] = [:]
        for identifier in TimeZone.knownTimeZoneIdentifiers.sorted() where identifier.contains("/") {
            let name = identifier.lowercased().replacingOccurrences(of: "_", with: " ")
            names[name] = identifier
            if let city = name.split(separator: "/").last, names[String(city)] == nil {
                names[String(city)] = identifier
            }
        }
        return names
    }()

    /// Big cities without a zone of their name, and what people call a zone.
    private static let others: [String: String] = [
        "utc": "UTC", "gmt": "UTC", "etc/utc": "UTC", "est": "America/New_York", "edt": "America/New_York",
        "et": "America/New_York", "eastern": "America/New_York", "eastern time": "America/New_York",
        "cst": "America/Chicago", "cdt": "America/Chicago", "central": "America/Chicago",
        "central time": "America/Chicago", "mst": "America/Denver", "mdt": "America/Denver",
        "mountain": "America/Denver", "mountain time": "America/Denver", "pst": "America/Los_Angeles",
        "pdt": "America/Los_Angeles", "pt": "America/Los_Angeles", "pacific": "America/Los_Angeles",
        "pacific time": "America/Los_Angeles", "cet": "Europe/Berlin", "cest": "Europe/Berlin",
        "bst": "Europe/London", "jst": "Asia/Tokyo", "ist": "Asia/Kolkata", "nyc": "America/New_York",
        "new york city": "America/New_York", "boston": "America/New_York", "washington": "America/New_York",
        "washington dc": "America/New_York", "miami": "America/New_York", "atlanta": "America/New_York",
        "philadelphia": "America/New_York", "montreal": "America/Toronto", "dallas": "America/Chicago",
        "houston": "America/Chicago", "austin": "America/Chicago", "minneapolis": "America/Chicago",
        "new orleans": "America/Chicago", "la": "America/Los_Angeles", "san francisco": "America/Los_Angeles",
        "sf": "America/Los_Angeles", "seattle": "America/Los_Angeles", "san diego": "America/Los_Angeles",
        "portland": "America/Los_Angeles", "las vegas": "America/Los_Angeles", "munich": "Europe/Berlin",
        "hamburg": "Europe/Berlin", "cologne": "Europe/Berlin", "frankfurt": "Europe/Berlin",
        "barcelona": "Europe/Madrid", "milan": "Europe/Rome", "geneva": "Europe/Zurich", "edinburgh": "Europe/London",
        "manchester": "Europe/London", "mumbai": "Asia/Kolkata", "delhi": "Asia/Kolkata", "new delhi": "Asia/Kolkata",
        "bangalore": "Asia/Kolkata", "beijing": "Asia/Shanghai", "shenzhen": "Asia/Shanghai", "osaka": "Asia/Tokyo",
        "kyoto": "Asia/Tokyo", "rio": "America/Sao_Paulo", "rio de janeiro": "America/Sao_Paulo",
        "san josé": "America/Costa_Rica", "abu dhabi": "Asia/Dubai", "tel aviv": "Asia/Jerusalem",
        "hanoi": "Asia/Ho_Chi_Minh", "saigon": "Asia/Ho_Chi_Minh", "kiev": "Europe/Kyiv",
        "canberra": "Australia/Sydney", "cape town": "Africa/Johannesburg",
    ]
}
