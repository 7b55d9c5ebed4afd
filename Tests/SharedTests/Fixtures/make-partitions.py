#!/usr/bin/env python3
"""Writes partitions.json: which partition a key belongs to, computed apart from the Swift code.

The vectors are frozen. If this script makes others, the script or the rule has changed, and no running system can
follow: one user's messages would go through two queues.
"""
import hashlib
import json
import pathlib


def partition(key, count):
    return int.from_bytes(hashlib.sha256(key.encode("utf-8")).digest()[:4], "big") % count


def keys():
    yield ""
    yield from ["+12025559876", "sam@example.com", "zoë@example.com", "日本", "👩‍👩‍👧", "a" * 55, "a" * 56, "a" * 64, "a" * 1000]
    for number in range(600):
        yield "+1202555%04d" % (number * 7)
    for number in range(200):
        yield "user-%d@example.com" % number
    for number in range(190):
        digest = hashlib.md5(str(number).encode()).hexdigest()
        yield "-".join([digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:]])


counts = [16, 1, 2, 3, 7, 8, 32, 64, 100, 256]
vectors = [[key, counts[i % len(counts)], partition(key, counts[i % len(counts)])] for i, key in enumerate(keys())]
assert len(vectors) == 1000
lines = ",\n".join(json.dumps(vector, ensure_ascii=False) for vector in vectors)
pathlib.Path(__file__).with_name("partitions.json").write_text("[\n" + lines + "\n]\n", encoding="utf-8")
