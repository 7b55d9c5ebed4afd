import COpenSSL

/// Memory that OpenSSL reads PEM from and writes it to.
@safe struct PEMText: ~Copyable {
    let bio: OpaquePointer?

    init() { unsafe bio = BIO_new(BIO_s_mem()) }

    init(_ text: String) {
        unsafe bio = BIO_new(BIO_s_mem())
        let bytes = Array(text.utf8)
        let written = unsafe BIO_write(bio, bytes, Int32(clamping: bytes.count))
        precondition(written == bytes.count || bytes.isEmpty, "out of memory")
    }

    deinit { unsafe BIO_free_all(bio) }

    /// What was written.
    var text: String {
        var characters: UnsafeMutablePointer<CChar>?
        let count = unsafe isthmus_bio_contents(bio, &characters)
        return unsafe String(decoding: UnsafeRawBufferPointer(start: characters, count: count), as: UTF8.self)
    }
}
