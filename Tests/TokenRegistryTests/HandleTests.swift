import Shared
import Testing

@testable import TokenRegistry

@Suite struct HandleTests {
    @Test(arguments: [
        ("+12025559876", "+12025559876"), ("+1 (202) 555-9876", "+12025559876"), ("+49.30.1234567", "+49301234567"),
        ("Sam@Example.COM", "sam@example.com"),
    ])
    func `phone numbers and addresses have one form`(written: String, normal: String) {
        #expect(Handle(written)?.text == normal)
    }

    @Test func `an address that Unicode can write in two ways has one spelling`() {
        #expect(Handle("Zoe\u{308}@example.com").map { Array($0.text.utf8) } == Array("zo\u{EB}@example.com".utf8))
    }

    @Test(arguments: [
        "", "+", "12025559876", "+0123456789", "+1", "+1234567890123456", "+1202555987x", "+١٢٣٤٥٦٧٨٩", "sam",
        "@example.com",
        "sam@", "a@b@c", "sa m@example.com", "sam\n@example.com",
    ])
    func `what names nobody for certain is not a handle`(written: String) {
        #expect(Handle(written) == nil)
    }

    @Test func `the first phone number is canonical, and stays it`() {
        var user = User(id: "sam")
        user.replaceHandles(with: ["sam@example.com", "+12025550001", "+12025550002"].compactMap(Handle.init))
        #expect(user.canonicalHandle?.text == "+12025550001")
        user.replaceHandles(with: ["+12025550002", "+12025550001"].compactMap(Handle.init))
        #expect(user.canonicalHandle?.text == "+12025550001")
        user.loseHandles(["+12025550001"].compactMap(Handle.init))
        #expect(user.canonicalHandle?.text == "+12025550002")
    }

    @Test func `an address that was first stays canonical when a number comes`() {
        var user = User(id: "sam")
        user.addHandles(["sam@example.com"].compactMap(Handle.init))
        user.addHandles(["+12025550001"].compactMap(Handle.init))
        #expect(user.canonicalHandle?.text == "sam@example.com")
    }

    @Test func `beyond the limit the oldest handles go, save the canonical one`() {
        var user = User(id: "sam")
        user.addHandles((0...User.mostHandles).compactMap { Handle("+120255500\(10 + $0)") })
        #expect(user.handles.count == User.mostHandles)
        #expect(user.canonicalHandle?.text == "+12025550010")
        #expect(user.handles[1].handle.text == "+12025550012")
    }
}
