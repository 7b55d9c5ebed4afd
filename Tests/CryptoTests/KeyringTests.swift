import Foundation
import Runtime
import Testing

@testable import Crypto

@Suite struct KeyringTests {
    private func keyText(_ id: String, _ byte: UInt8) -> String {
        "\(id):\(Data(repeating: byte, count: 32).base64EncodedString())\n"
    }

    @Test func `AES-256-GCM gives case 16 of the paper that defines it`() throws {
        let key = try AESGCMKey(
            id: "k",
            key: try #require([UInt8](hex: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")))
        let plain = try #require(
            [UInt8](
                hex: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                    + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"))
        let nonce = try #require([UInt8](hex: "cafebabefacedbaddecaf888"))
        let context = try #require([UInt8](hex: "feedfacedeadbeeffeedfacedeadbeefabaddad2"))
        let sealed = key.seal(plain, nonce: nonce, context: context)
        #expect(
            sealed.hexString == "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662" + "76fc6ece0f4e1768cddf8853bb2d551b")
        #expect(key.open(sealed, nonce: nonce, context: context) == plain)
    }

    @Test(arguments: [0, 1, 15, 16, 17, 5000]) func `what was sealed opens again`(count: Int) throws {
        let ring = try Keyring(fileTexts: [keyText("2026-01", 7)])
        let plain = RandomBytes.make(count)
        let sealed = ring.seal(plain, context: Array("row 1".utf8))
        #expect(try ring.open(sealed, context: Array("row 1".utf8)) == plain)
        #expect(sealed.count == 2 + 7 + 12 + count + 16)
        #expect(sealed != ring.seal(plain, context: Array("row 1".utf8)), "the nonce is new each time")
    }

    @Test func `a change of any one bit is noticed`() throws {
        let ring = try Keyring(fileTexts: [keyText("a", 1)])
        let sealed = ring.seal(Array("token".utf8), context: [])
        for index in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[index] ^= 1 << UInt8(bit)
                #expect(throws: CryptoError.self) { try ring.open(changed, context: []) }
            }
        }
        for count in 0..<sealed.count {
            #expect(throws: CryptoError.self) { try ring.open(Array(sealed.prefix(count)), context: []) }
        }
        #expect(throws: CryptoError.self) { try ring.open(sealed + [0], context: []) }
    }

    @Test func `another context does not open it`() throws {
        let ring = try Keyring(fileTexts: [keyText("a", 1)])
        let sealed = ring.seal(Array("token".utf8), context: Array("user 1".utf8))
        for context in [Array("user 2".utf8), [], Array("user 1 ".utf8)] {
            let error = #expect(throws: CryptoError.self) { try ring.open(sealed, context: context) }
            #expect(error?.kind == .notAuthentic)
        }
    }

    @Test func `a new key in front seals, and the old one still opens`() throws {
        let old = try Keyring(fileTexts: [keyText("old", 1)])
        let sealed = old.seal([1, 2, 3], context: [])
        let both = try Keyring(fileTexts: [keyText("new", 2), keyText("old", 1)])
        #expect(both.sealedPrefix == [1, 3] + Array("new".utf8))
        #expect(try both.open(sealed, context: []) == [1, 2, 3])
        let resealed = both.seal([1, 2, 3], context: [])
        #expect(try both.open(resealed, context: []) == [1, 2, 3])
        let error = #expect(throws: CryptoError.self) { try old.open(resealed, context: []) }
        #expect(error?.kind == .unknownKey)
    }

    @Test func `another key under the same id does not open it`() throws {
        let sealed = try Keyring(fileTexts: [keyText("a", 1)]).seal([1], context: [])
        let other = try Keyring(fileTexts: [keyText("a", 2)])
        #expect(throws: CryptoError.self) { try other.open(sealed, context: []) }
    }

    @Test func `key files that are not right are refused without being repeated`() throws {
        let secret = Data(repeating: 9, count: 31).base64EncodedString()
        for texts in [
            [], [""], ["id"], [secret], ["id:\(secret)"], [":\(secret)"], ["a b:\(secret)"], ["id:!!\(secret)"],
        ] {
            let error = #expect(throws: CryptoError.self) { try Keyring(fileTexts: texts) }
            #expect(error?.kind == .unusableKey)
            #expect(error?.description.contains(secret) == false)
        }
        #expect(throws: CryptoError.self) { try Keyring(fileTexts: [keyText("a", 1), keyText("a", 2)]) }
    }

    @Test func `a keyring does not print its keys`() throws {
        let key = try AESGCMKey(id: "a", key: Array(repeating: 0xAB, count: 32))
        var dumped = ""
        dump(try Keyring([key]), to: &dumped)
        #expect(!dumped.contains("171"))
        #expect(dumped.contains("[secret]"))
    }
}
