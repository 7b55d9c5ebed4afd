import COpenSSL
import Foundation

/// A private authority and a server certificate from it, for the simulator and for tests.
package enum SelfSignedCertificate {
    private static let lifetime = 365 * 86400

    /// Writes `ca.pem`, `server.pem` and `server-key.pem` (mode 0600) into `directory`, which must be there.
    ///
    /// The authority's key is thrown away: nobody can make another certificate that a client of these files trusts.
    package static func write(
        to directory: String, commonName: String, dnsNames: [String], ipAddresses: [String]
    ) throws -> (certificateFile: String, keyFile: String, caFile: String) {
        let authorityKey = try ES256PrivateKey.generate()
        let serverKey = try ES256PrivateKey.generate()
        let authorityName = "\(commonName) authority"
        let authority = try Certificate(subject: authorityName, issuer: authorityName, key: authorityKey)
        try authority.add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0", issuer: authority)
        try authority.add(NID_key_usage, "critical,keyCertSign,cRLSign", issuer: authority)
        try authority.add(NID_subject_key_identifier, "hash", issuer: authority)
        try authority.sign(authorityKey)

        let server = try Certificate(subject: commonName, issuer: authorityName, key: serverKey)
        let names = dnsNames.map { "DNS:\($0)" } + ipAddresses.map { "IP:\($0)" }
        try server.add(NID_basic_constraints, "critical,CA:FALSE", issuer: authority)
        try server.add(NID_key_usage, "critical,digitalSignature", issuer: authority)
        try server.add(NID_ext_key_usage, "serverAuth", issuer: authority)
        try server.add(NID_authority_key_identifier, "keyid:always", issuer: authority)
        if !names.isEmpty {
            try server.add(NID_subject_alt_name, names.joined(separator: ","), issuer: authority)
        }
        try server.sign(authorityKey)

        let files = (
            certificateFile: "\(directory)/server.pem", keyFile: "\(directory)/server-key.pem",
            caFile: "\(directory)/ca.pem"
        )
        try write(authority.pem, to: files.caFile, mode: 0o644)
        try write(server.pem, to: files.certificateFile, mode: 0o644)
        try write(serverKey.pem, to: files.keyFile, mode: 0o600)
        return files
    }

    private static func write(_ text: String, to path: String, mode: Int) throws {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: mode]
        guard FileManager.default.createFile(atPath: path, contents: Data(text.utf8), attributes: attributes) else {
            throw CryptoError(.failed, "\(path) cannot be written")
        }
    }

    /// The one owner of an `X509 *` that is being made.
    @safe private struct Certificate: ~Copyable {
        private let pointer: OpaquePointer?

        init(subject: String, issuer: String, key: ES256PrivateKey) throws {
            unsafe pointer = X509_new()
            let serial = unsafe ASN1_INTEGER_new()
            defer { unsafe ASN1_INTEGER_free(serial) }
            let number = RandomBytes.make(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } >> 1
            guard unsafe X509_set_version(pointer, 2) == 1,  // Version 3 is written as 2.
                unsafe ASN1_INTEGER_set_uint64(serial, number | 1) == 1,
                unsafe X509_set_serialNumber(pointer, serial) == 1,
                unsafe X509_gmtime_adj(X509_getm_notBefore(pointer), -3600) != nil,
                unsafe X509_gmtime_adj(X509_getm_notAfter(pointer), lifetime) != nil,
                unsafe X509_set_pubkey(pointer, key.key.pointer) == 1,
                unsafe Self.setName(X509_get_subject_name(pointer), subject),
                unsafe Self.setName(X509_get_issuer_name(pointer), issuer)
            else { throw CryptoError(.failed, "no certificate could be made: \(takeOpenSSLWords())") }
        }

        deinit { unsafe X509_free(pointer) }

        private static func setName(_ name: OpaquePointer?, _ text: String) -> Bool {
            unsafe X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_FLAG, text, -1, -1, 0) == 1
        }

        func add(_ extensionID: Int32, _ value: String, issuer: borrowing Certificate) throws {
            var context = unsafe X509V3_CTX()
            unsafe isthmus_x509v3_context(&context, issuer.pointer, pointer)
            let made = unsafe X509V3_EXT_conf_nid(nil, &context, extensionID, value)
            defer { unsafe X509_EXTENSION_free(made) }
            guard unsafe made != nil && X509_add_ext(pointer, made, -1) == 1 else {
                throw CryptoError(.failed, "no certificate can say \"\(value)\": \(takeOpenSSLWords())")
            }
        }

        func sign(_ key: ES256PrivateKey) throws {
            guard unsafe X509_sign(pointer, key.key.pointer, EVP_sha256()) > 0 else {
                throw CryptoError(.failed, "the certificate cannot be signed: \(takeOpenSSLWords())")
            }
        }

        var pem: String {
            let target = PEMText()
            precondition(unsafe PEM_write_bio_X509(target.bio, pointer) == 1, "out of memory")
            return target.text
        }
    }
}
