#!/usr/bin/env python3
"""Makes the first inputs of the fuzz targets that have no fixtures: signature, registry and http2.

Inputs that were found to crash are kept beside them as crash-…, and are not made here.
"""

import pathlib
import struct

CORPUS = pathlib.Path(__file__).parent / "Corpus"


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


DATA, HEADERS, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 5, 6, 7, 8, 9
END_STREAM, ACK, END_HEADERS = 1, 1, 4
OK = b"\x88"  # :status: 200, as HPACK's static table has it
GONE = b"\x08\x03410"  # :status: 410
HELLO = frame(SETTINGS, 0, 0, struct.pack(">HI", 3, 1000)) + frame(SETTINGS, ACK, 0)
REASON = b'{"reason":"Unregistered","timestamp":1800000000000}'

# Which body it is comes first; see RegistryTarget.swift.
REGISTRY = {
    "handles": b'\0{"handles":["+12025559876","sam@example.com"]}',
    "start-token": b'\1{"attributesType":"CoachAttributes","token":"' + b"ab" * 32
    + b'","environment":"sandbox","bundleID":"com.example","wantsInputPushToken":true}',
    "activity": b'\2{"attributesType":"CoachAttributes","token":"' + b"cd" * 32
    + b'","sessionID":"s1","startedAt":"2026-02-05T19:31:13.736Z"}',
    "running": b'\3{"running":["A","B"]}',
    "path": b"\4v1/users/sam/devices/phone/activities/A",
    "bad-utf8": b'\3{"running":["\xc3\x28\xff"]}',
    "nul": b'\3{"running":["A\\u0000B","\0"]}',
    "huge-number": b'\2{"attributesType":1e999999,"token":-123456789012345678901234567890}',
    "deep": b'\3{"running":' + b"[" * 2000 + b"]" * 2000 + b"}",
}

# Divided by 0xFF: secret, id, timestamp, signatures, the older signature, body; see SignatureTarget.swift.
SIGNATURE = {
    "usual": [b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b"msg_2", b"1800000000", b"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
              b"0f" * 32, b'{"event_type":"message.received"}'],
    "several": [b"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw==", b"a.b", b"-1", b"v1,AAAA v2,AAAA v1a,AAAA v1, ,v1", b"zz", b""],
    "huge-number": [b"whsec_", b"m", b"999999999999999999999", b"v1,=", b"0", b"\0"],
}

HTTP2 = {
    "answers": HELLO + b"".join(frame(HEADERS, END_HEADERS | END_STREAM, stream, OK) for stream in (1, 3, 5, 7)),
    "reason": HELLO + frame(HEADERS, END_HEADERS, 1, GONE) + frame(DATA, END_STREAM, 1, REASON),
    "reset": HELLO + frame(RST_STREAM, 0, 1, struct.pack(">I", 7)) + frame(RST_STREAM, 0, 3, struct.pack(">I", 2)),
    "goaway": HELLO + frame(GOAWAY, 0, 0, struct.pack(">II", 3, 0) + b'{"reason":"Shutdown"}'),
    "continued": HELLO + frame(HEADERS, END_STREAM, 1, OK[:0]) + frame(CONTINUATION, END_HEADERS, 1, OK),
    "push": HELLO + frame(PUSH_PROMISE, END_HEADERS, 1, struct.pack(">I", 2) + OK),
    "ping": HELLO + frame(PING, 0, 0, b"12345678") + frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1)),
    "informational": HELLO + frame(HEADERS, END_HEADERS, 1, b"\x08\x03103") + frame(HEADERS, END_HEADERS | END_STREAM, 1, OK),
    "header-injection": HELLO + frame(HEADERS, END_HEADERS | END_STREAM, 1, OK + b"\x00\x07apns-id\x09a\r\nb: c\0d"),
    "one-stream": frame(SETTINGS, 0, 0, struct.pack(">HI", 3, 1)) + frame(HEADERS, END_HEADERS | END_STREAM, 1, OK),
    "too-large": HELLO + frame(DATA, 0, 1, b"x" * 3000),
}


def write(target, name, content):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


for name, content in REGISTRY.items():
    write("registry", name, content)
for name, fields in SIGNATURE.items():
    write("signature", name, b"\xff".join(fields))
for name, content in HTTP2.items():
    write("http2", name, content)
for name, content in {
    "bad-utf8": b'{"event_type":"message.received","data":{"id":"\xff\xfe"}}',
    "nul": b'{"event_type":"message.received\\u0000","data":{"id":"\0"}}',
    "huge-number": b'{"event_type":"message.edited","data":{"part":{"index":1e400,"text":123456789012345678901234567890}}}',
    "deep": b'{"event_type":' + b'{"a":' * 1500 + b"1" + b"}" * 1500 + b"}",
}.items():
    write("webhook", name, content)
    write("wire", name, content)
