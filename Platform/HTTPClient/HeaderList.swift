import CCurl

/// A request's headers as libcurl takes them, in memory that the next request uses again.
@safe final class HeaderList {
    private var text: UnsafeMutableBufferPointer<CChar>
    private var lines: UnsafeMutableBufferPointer<curl_slist>
    private var lineStart = 0
    private var textEnd = 0
    private var count = 0

    init() {
        unsafe text = .allocate(capacity: 512)
        unsafe lines = .allocate(capacity: 8)
    }

    deinit {
        unsafe text.deallocate()
        unsafe lines.deallocate()
    }

    /// The list, which is good until the next call.
    func fill(_ headers: [(name: String, value: String)]) -> UnsafeMutablePointer<curl_slist>? {
        var size = 32
        var hasType = false
        for (name, value) in headers {
            size += name.utf8.count + value.utf8.count + 3
            if name.utf8.count == 12, name.lowercased() == "content-type" { hasType = true }
        }
        reserve(size, lines: headers.count + 2)
        // Without a value: do not wait for 100 Continue before a large body.
        add("Expect:")
        endLine()
        if !hasType {
            add("Content-Type:")
            endLine()
        }
        for (name, value) in headers {
            add(name)
            // libcurl's sign for a header that is there but empty is a semicolon.
            add(value.isEmpty ? ";" : ": ")
            add(value)
            endLine()
        }
        return unsafe lines.baseAddress
    }

    /// Makes room, and forgets what was there.
    private func reserve(_ size: Int, lines lineCount: Int) {
        (lineStart, textEnd, count) = (0, 0, 0)
        if unsafe text.count < size {
            unsafe text.deallocate()
            unsafe text = .allocate(capacity: size)
        }
        if unsafe lines.count < lineCount {
            unsafe lines.deallocate()
            unsafe lines = .allocate(capacity: lineCount)
        }
    }

    private func add(_ piece: String) {
        var piece = piece
        piece.withUTF8 { bytes in
            guard let from = bytes.baseAddress else { return }
            let free = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(text)[textEnd...])
            unsafe free.copyMemory(from: UnsafeRawBufferPointer(start: from, count: bytes.count))
            textEnd += bytes.count
        }
    }

    private func endLine() {
        unsafe text[textEnd] = 0
        unsafe lines[count] = unsafe curl_slist(data: text.baseAddress.map { unsafe $0 + lineStart }, next: nil)
        if count > 0 { unsafe lines[count - 1].next = unsafe lines.baseAddress.map { unsafe $0 + count } }
        count += 1
        textEnd += 1
        lineStart = textEnd
    }
}
