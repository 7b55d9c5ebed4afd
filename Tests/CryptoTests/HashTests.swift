import Crypto
import Foundation
import Runtime
import Testing

@Suite struct HashTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `SHA-256 gives the digests of FIPS 180`(text: String, digest: String) {
        #expect(SHA256.hash(Array(text.utf8)).hexString == digest)
        #expect(SHA256.hash(text.utf8).hexString == digest)
        #expect(SHA256.hash(Array("<\(text)>".utf8).dropFirst().dropLast()).hexString == digest)
    }

    @Test(arguments: [
        (
            String(repeating: "0b", count: 20), "4869205468657265",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            String(repeating: "aa", count: 131),
            "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d2048617368204b6579204669727374",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func `HMAC gives the codes of RFC 4231`(key: String, data: String, code: String) throws {
        let key = HMACKey(try #require([UInt8](hex: key)))
        let data = try #require([UInt8](hex: data))
        #expect(key.authenticate(data).hexString == code)
        #expect(key.authenticate(Array(data.prefix(3)), [], Array(data.dropFirst(3))).hexString == code)
        let borrowed = data.withUnsafeBytes { data in
            key.authenticate(parts: [
                UnsafeRawBufferPointer(rebasing: data.prefix(5)), UnsafeRawBufferPointer(rebasing: data.dropFirst(5)),
            ])
        }
        #expect(borrowed.hexString == code)
    }

    @Test func `an empty HMAC key is a key too`() {
        let code = HMACKey([]).authenticate([])
        #expect(code.hexString == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }

    @Test func `one HMAC key serves many tasks at once`() async {
        let key = HMACKey(Array("Jefe".utf8))
        let wrong = await withTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<500).count { round in
                        let text = Array("\(task) \(round)".utf8)
                        return key.authenticate(text) != HMACKey(Array("Jefe".utf8)).authenticate(text)
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }

    @Test func `bytes are equal only if all of them are`() {
        #expect(constantTimeEqual([], []))
        #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
        #expect(!constantTimeEqual([0, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
    }

    @Test func `random bytes are as many as asked for and not the same twice`() {
        #expect(RandomBytes.make(0) == [])
        #expect(RandomBytes.make(33).count == 33)
        #expect(RandomBytes.make(16) != RandomBytes.make(16))
    }

    @Test func `a name has one UUID of version 8`() {
        let id = UUIDFromName.make("reply", "event-1/0")
        #expect(id == UUIDFromName.make("reply", "event-1/0"))
        #expect(id.uuid.6 >> 4 == 8)
        #expect(id.uuid.8 >> 6 == 0b10)
        #expect(id != UUIDFromName.make("reply", "event-1/1"))
        #expect(UUIDFromName.make("a", "bc") != UUIDFromName.make("ab", "c"))
        // Written down, because ids that changed would send everything a second time.
        #expect(id.uuidString == "87A0423A-C1B3-8AEC-B01E-BD624350B0DD")
    }

    @Test func `Base64URL has no padding and one spelling`() {
        #expect(Base64URL.encode([0xFB, 0xFF, 0xFE]) == "-__-")
        #expect(Base64URL.encode([0xFB]) == "-w")
        #expect(Base64URL.decode("-w") == [0xFB])
        #expect(Base64URL.decode("") == [])
        for wrong in ["-w==", "+w", "/w", "-x", "a", "a b", "-w\n", "ä"] {
            #expect(Base64URL.decode(wrong) == nil, "\(wrong)")
        }
    }
}
