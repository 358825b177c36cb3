"""Mutations of valid samples: of bytes, of the words of a text, and of the members of an ``.npz`` file."""

from __future__ import annotations

import io
import json
import random
import re
import struct
import zipfile
from collections.abc import Callable

Mutate = Callable[[random.Random, bytes], bytes]

_TOKEN = re.compile(
    rb'"(?:[^"\\\n]|\\.)*"|[-+]?\d[\w.]*|[A-Za-z_][\w.]*|\[|\]|\{|\}|=|,|:|\(|\)|;|\+|\$|-\w+|\n|\s+|.', re.DOTALL
)
_NUMBERS = (
    b"0 -1 1 2 3 7 8 31 32 33 64 255 256 257 4096 8191 8192 8193 65535 65536 16187398 2147483647 2147483648 4294967295 "
    b"4294967296 8589934592 9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551616 "
    b"-9223372036854775808 1000000000000000000000000000000 0x0 0xff 0x1FF 0xffffffff 0x100000000 0xffffffffffffffff "
    b"0x10000000000000000 0.5 -0.0 1e308 1e999 nan inf -inf 1_000 0b11 0o17 00 1979-05-27"
).split()
_OTHERS = (
    b'""',
    b'"x"',
    b'"../../../x"',
    b'"/etc/passwd"',
    b'"a/b"',
    b'"\\u0000"',
    b'"\\ud800"',
    b'"\\n"',
    b'"\xc3\xa9"',
    b'"\xff"',
    b"true",
    b"false",
    b"null",
    b"[]",
    b"{}",
    b"[1, 2, 3]",
    b'["x"]',
    b"[[1]]",
    b"{a = 1}",
    b'{"a": 1}',
    b"\x00",
    b"$HOME",
    b"${NOT_SET}",
    b"//",
    b"/*",
    b'"',
)
_LONG = (
    b"9" * 5000,
    b"0x" + b"f" * 5000,
    b'"' + b"n" * 300 + b'"',
    b'"' + b"n" * 100_000 + b'"',
    b"[" * 3000,
    b"[" * 3000 + b"]" * 3000,
    b"a." * 3000 + b"a",
    b'{"a":' * 3000,
    b"(" * 3000,
    b"n" * 300,
)


_VALUES: tuple[object, ...] = (
    *(None, True, False, 0, -1, 1, 2, 1.5, 255, 65536, 0xFFFFFFE0, 1 << 32, 1 << 33, 1 << 63, (1 << 64) - 1, 1 << 64),
    *("", "x", "n" * 300, "0x80000000", "0xffffffffffffffff", "\0", "\ud800", "fp16", "both", "SDP.D_OP_ENABLE"),
    *([], {}, [1], ["x"], ["x", 1], [["x", 1]], {"a": 1}, [[]], [[[]]]),
)


def of_bytes(rng: random.Random, sample: bytes) -> bytes:
    """Return a sample with a few bytes changed, taken out, put in, repeated, or its end cut off."""
    data = bytearray(sample)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1 and at < len(data):
            data[at] = rng.choice((0, 0xFF, 0x7F, 0x80, rng.randrange(256)))
        elif kind == 2:
            data[at:at] = rng.randbytes(rng.choice((1, 2, 4, 8)))
        elif kind == 3:
            del data[at : at + rng.choice((1, 2, 4, 64))]
        elif kind == 4:
            data[at:at] = data[at : at + rng.choice((4, 16, 64))]
        elif rng.randrange(4) == 0:
            del data[at:]
        else:
            form = rng.choice(("<H", ">H", "<I", ">I", "<Q"))
            top = (1 << 8 * struct.calcsize(form)) - 1
            raw = struct.pack(form, rng.choice((0, 1, top, top >> 1, (top >> 1) + 1, rng.randint(0, top))))
            data[at : at + len(raw)] = raw
    return bytes(data)


def of_words(rng: random.Random, sample: bytes) -> bytes:
    """Return a text with a few words or lines replaced, taken out, repeated or exchanged."""
    if rng.randrange(8) == 0:
        return of_bytes(rng, sample)
    if rng.randrange(4) == 0:
        return _of_lines(rng, sample)
    words = _TOKEN.findall(sample)
    solid = [n for n, word in enumerate(words) if not word.isspace()]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if not solid:
            break
        at = rng.choice(solid)
        kind = rng.randrange(10)
        if kind < 5:
            words[at] = _hostile(rng)
        elif kind == 5:
            words[at] = b""
        elif kind == 6:
            words[at] = words[at] + b" " + words[at]
        elif kind == 7:
            other = rng.choice(solid)
            words[at], words[other] = words[other], words[at]
        elif kind == 8:
            words[at] = words[rng.choice(solid)]
        else:
            words[at] = _nudged(rng, words[at])
    return b"".join(words)


def of_json(rng: random.Random, sample: bytes) -> bytes:
    """Return JSON with a value replaced or taken out at any depth, or with its words changed."""
    if rng.randrange(3) == 0:
        return of_words(rng, sample)
    try:
        holder = whole = json.loads(sample)
    except (ValueError, RecursionError):  # an earlier mutation has broken it
        return of_bytes(rng, sample)
    if not isinstance(whole, dict | list) or not whole:
        return of_words(rng, sample)
    while True:
        key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
        inner = holder[key]
        if not isinstance(inner, dict | list) or not inner or rng.randrange(2):
            break
        holder = inner
    if rng.randrange(8) == 0:
        del holder[key]
    else:
        holder[key] = rng.choice(_VALUES)
    return json.dumps(whole).encode()


def _hostile(rng: random.Random) -> bytes:
    kind = rng.randrange(12)
    return rng.choice(_NUMBERS if kind < 6 else _OTHERS if kind < 11 else _LONG)


def _nudged(rng: random.Random, word: bytes) -> bytes:
    """Return a number a little off, or a text with a character changed."""
    if word.isdigit() and len(word) < 20:
        return str(max(int(word) + rng.choice((-2, -1, 1, 2)), 0) * rng.choice((1, 1, -1, 2, 1 << 16))).encode()
    return of_bytes(rng, word) if len(word) > 2 else word + word


def _of_lines(rng: random.Random, sample: bytes) -> bytes:
    lines = sample.splitlines(keepends=True)
    if not lines:
        return sample
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(other, lines[at])
    elif kind == 2:
        lines[at], lines[other] = lines[other], lines[at]
    else:
        del lines[at : at + 1 + other]
    return b"".join(lines)


def of_arrays(rng: random.Random, sample: bytes) -> bytes:
    """Return an ``.npz`` file of which a member's header, text or data are changed, so that the checksums are right."""
    if rng.randrange(3) == 0:
        return of_bytes(rng, sample)
    with zipfile.ZipFile(io.BytesIO(sample)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(rng.choice((1, 1, 2))):
        name = rng.choice(list(members))
        raw = members[name]
        kind = rng.randrange(6)
        if kind == 0:
            del members[name]
        elif kind == 1:
            members[rng.choice(list(members))] = raw
        elif kind == 2:
            members[name] = of_header(rng, raw)
        elif kind == 3:
            members[name] = of_bytes(rng, raw)
        else:
            texts = [key for key, data in members.items() if b"'<U" in data[:128] or b"'>U" in data[:128]]
            if texts:
                members[texts[0]] = _of_text(rng, members[texts[0]])
        if not members:
            break
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target.getvalue()


def of_header(rng: random.Random, raw: bytes) -> bytes:
    """Return a ``.npy`` file with words of its header changed, and a length that fits."""
    if raw[:6] != b"\x93NUMPY" or len(raw) < 10:
        return of_bytes(rng, raw)
    size = struct.unpack_from("<H", raw, 8)[0]
    header = raw[10 : 10 + size]
    if rng.randrange(2):
        kinds = b"|u1 <u2 <u4 <i8 >u2 <f2 <f8 |O |V8 <U4 |S3 <M8[s] |b1 <c16".split()
        header = re.sub(rb"'descr': '[^']*'", b"'descr': '" + rng.choice(kinds) + b"'", header)
    else:
        shapes = (b"(4, 8796093022208)", b"()", b"(0,)", b"(1,)", b"(-1,)", b"(2, 2)", b"(1, 1, 1)", b"3", b"(1.5,)")
        header = re.sub(rb"'shape': \([^)]*\)", b"'shape': " + rng.choice(shapes), header)
    header = of_words(rng, header)[: 1 << 16 - 1] if rng.randrange(3) == 0 else header
    return raw[:8] + struct.pack("<H", len(header)) + header + raw[10 + size :]


def _of_text(rng: random.Random, raw: bytes) -> bytes:
    """Return a ``.npy`` file of one text with the text's words changed."""
    size = struct.unpack_from("<H", raw, 8)[0]
    text = raw[10 + size :].decode("utf-32-le", "replace").encode("utf-8")
    changed = of_json(rng, text).decode("utf-8", "replace")
    header = f"{{'descr': '<U{len(changed)}', 'fortran_order': False, 'shape': (), }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + changed.encode("utf-32-le")
