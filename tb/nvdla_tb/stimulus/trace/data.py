"""Memory surface files (``.dat``): packets of bytes with their offsets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from operator import add
from pathlib import Path

from nvdla_models.limits import DATA_BYTES, MEMORY_BYTES, PIECES
from nvdla_models.reading import opened
from nvdla_tb.stimulus.trace.errors import TraceError

Chunks = tuple[tuple[int, bytes], ...]

PACKET_BYTES = 32
"""Largest payload that the format recommends; the writer keeps to it."""

_BLOCK_BYTES = 1 << 22
_PACKET_BYTES = 1 << 24
_NUMBER = rb"0x[0-9a-fA-F]{1,16}|0|[1-9][0-9]{0,19}"
_PACKET = re.compile(
    rb"\{[ \t]*offset[ \t]*:[ \t]*(" + _NUMBER + rb")[ \t]*,[ \t]*size[ \t]*:[ \t]*(" + _NUMBER + rb")[ \t]*,"
    rb"[ \t]*payload[ \t]*:[ \t]*(0x[0-9a-fA-F]{1,2}(?:[ \t]+0x[0-9a-fA-F]{1,2})*+)[ \t]*\}"
)
_KEYWORD = re.compile(rb"offset|size|payload")
_SHAPE = "{offset:0x0, size:4, payload:0x00 0x10 0x20 0x30}"
_FIRST, _BETWEEN = (b"", b"{"), (b",",)


def read_data(path: Path) -> Chunks:
    """Read a memory surface file.

    Returns:
        (offset, bytes) in the file's order; packets that continue one another are joined.

    Raises:
        TraceError: with file and line, for anything but packets, and when size and payload disagree.

    Source: verification suite user guide, Trace Test format, Memory Surface File Format. The outer
        braces are optional and a comma may follow the last packet, as in the public nv_small traces.
    """
    reader = _Reader(path)
    with opened(path, DATA_BYTES, TraceError) as file:
        rest = b""
        while block := file.read(_BLOCK_BYTES):
            rest += block
            # Packets are taken whole: none spans lines, and each ends with its brace.
            end = max(rest.rfind(b"\n"), rest.rfind(b"}")) + 1
            reader.take(rest[:end])
            rest = rest[end:]
            reader.check_size(rest)
    reader.take(rest)
    return reader.finish()


class _Reader:
    """Collects the packets of one file from blocks of whole lines."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._line = 1
        self._gap = b""
        self._gap_line = 1
        self._opened: bool | None = None
        self._starts: list[int] = []
        self._payloads: list[list[bytes]] = []
        self._end = -1
        self._nbytes = 0

    def take(self, block: bytes) -> None:
        """Read the packets of one block of whole lines."""
        gaps_and_groups = _PACKET.split(block)
        gaps, offsets, sizes, payloads = (gaps_and_groups[i::4] for i in range(4))
        self._gap += gaps[0]
        if offsets:
            self._check_gaps(block, gaps)
            self._join(block, offsets, sizes, payloads)
            self._gap = gaps[-1]
            self._gap_line = self._line + block[: len(block) - len(gaps[-1])].count(b"\n")
        self._line += block.count(b"\n")

    def check_size(self, rest: bytes) -> None:
        """Refuse more than memory holds, and text that is no packet before there is much of it."""
        if self._nbytes > MEMORY_BYTES or len(self._starts) > PIECES:
            raise TraceError(
                f"{self._path}: packets must have at most {MEMORY_BYTES} bytes in {PIECES} pieces that do not continue "
                "one another"
            )
        if len(rest) > _PACKET_BYTES:
            line = f"a packet must have at most {_PACKET_BYTES} bytes of text, not {_shown(rest.lstrip())}..."
            raise TraceError.at(self._path, self._line, line)
        if len(self._gap) > _PACKET_BYTES:
            if _stripped(self._gap):
                self.finish()
            self._gap_line += self._gap.count(b"\n")
            self._gap = b""

    def finish(self) -> Chunks:
        """Check what follows the last packet and return all chunks."""
        gap = _stripped(self._gap)
        if self._opened is None:
            if gap == b"{}":
                return ()
            if gap in _FIRST:
                raise TraceError(f"{self._path}: the file must hold packets like {_SHAPE}, not nothing")
            self._refuse_gap(gap, self._gap, self._gap_line, _FIRST)
        allowed = (b"}", b",}") if self._opened else (b"", b",")
        if gap not in allowed:
            self._refuse_gap(gap, self._gap, self._gap_line, allowed)
        return tuple(zip(self._starts, (b"".join(parts) for parts in self._payloads), strict=True))

    def _check_gaps(self, block: bytes, gaps: Sequence[bytes]) -> None:
        first = _stripped(self._gap)
        allowed = _FIRST if self._opened is None else _BETWEEN
        if first not in allowed:
            self._refuse_gap(first, self._gap, self._gap_line, allowed)
        if self._opened is None:
            self._opened = first == b"{"
        # Between packets there are few different texts, so that looking at each kind once is enough.
        wrong = {gap for gap in set(gaps[1:-1]) if _stripped(gap) not in _BETWEEN}
        if wrong:
            at = next(i for i, gap in enumerate(gaps) if 0 < i < len(gaps) - 1 and gap in wrong)
            line = self._line + block[: _packet_span(block, at - 1)[1]].count(b"\n")
            self._refuse_gap(_stripped(gaps[at]), gaps[at], line, _BETWEEN)

    def _join(self, block: bytes, offsets: Sequence[bytes], sizes: Sequence[bytes], payloads: Sequence[bytes]) -> None:
        counts = [payload.count(b"x") for payload in payloads]
        said = {text: int(text, 0) for text in set(sizes)}
        if [said[text] for text in sizes] != counts:
            index = next(i for i, (text, count) in enumerate(zip(sizes, counts, strict=True)) if said[text] != count)
            line = self._line + block[: _packet_span(block, index)[0]].count(b"\n")
            raise TraceError.at(
                self._path,
                line,
                f"size must be the number of payload bytes, {counts[index]}, not {sizes[index].decode()}",
            )
        starts = [int(text, 0) for text in offsets]
        ends = [self._end, *map(add, starts, counts)]
        self._end = ends.pop()
        jumps = [index for index, (start, end) in enumerate(zip(starts, ends, strict=True)) if start != end]
        places = [0, *accumulate(counts)]
        values = _bytes_of(payloads)
        self._nbytes += len(values)
        first = jumps[0] if jumps else len(starts)
        if first:
            self._payloads[-1].append(values[: places[first]])
        for index, following in pairwise([*jumps, len(starts)]):
            self._starts.append(starts[index])
            self._payloads.append([values[places[index] : places[following]]])

    def _refuse_gap(self, gap: bytes, raw: bytes, line: int, allowed: tuple[bytes, ...]) -> None:
        keyword = _KEYWORD.search(raw)
        if keyword:
            begin = raw.rfind(b"\n", 0, keyword.start()) + 1
            found = _shown(raw[begin:].partition(b"\n")[0].strip())
            line += raw[:begin].count(b"\n")
            raise TraceError.at(self._path, line, f"a packet must be like {_SHAPE} on one line, not {found}")
        if gap:
            line += raw[: len(raw) - len(raw.lstrip())].count(b"\n")
        names = " or ".join(text.decode() or "nothing" for text in allowed)
        where = "before the first packet" if self._opened is None else "after a packet"
        raise TraceError.at(self._path, line, f"{where} must stand {names}, not {_shown(gap)}")


def _shown(text: bytes) -> str:
    return text[:60].decode("ascii", "backslashreplace") or "nothing"


def _packet_span(block: bytes, index: int) -> tuple[int, int]:
    """Start and end of a packet in its block; only for messages, where time does not matter."""
    return next(match.span() for i, match in enumerate(_PACKET.finditer(block)) if i == index)


def _bytes_of(payloads: Iterable[bytes]) -> bytes:
    text = b" ".join(payloads)
    try:
        return bytes.fromhex(text.replace(b"0x", b"").decode("ascii"))
    except ValueError:  # some byte has a single digit
        return bytes(int(value, 16) for value in text.split())


def _stripped(gap: bytes) -> bytes:
    return b"".join(gap.split())


def canonical(chunks: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join (offset, size) pairs that continue one another and drop empty ones, as reading does."""
    joined: list[tuple[int, int]] = []
    for offset, size in chunks:
        if joined and size and sum(joined[-1]) == offset:
            joined[-1] = (joined[-1][0], joined[-1][1] + size)
        elif size:
            joined.append((offset, size))
    return joined


def split(chunks: Chunks, sizes: Sequence[tuple[int, int]]) -> Chunks | None:
    """Cut what was read into chunks at the given (offset, size), or return None where that cannot be."""
    if canonical(sizes) != [(offset, len(data)) for offset, data in chunks]:
        return None
    everything = b"".join(data for _, data in chunks)
    cut, position = [], 0
    for offset, size in sizes:
        cut.append((offset, everything[position : position + size]))
        position += size
    return tuple(cut)


def format_data(chunks: Chunks) -> Iterator[str]:
    """Yield the text of a memory surface file in parts, one packet of at most 32 bytes a line."""
    yield "{\n"
    between = ""
    for base, data in chunks:
        for start in range(0, len(data), PACKET_BYTES):
            packet = data[start : start + PACKET_BYTES]
            payload = "0x" + packet.hex(" ").replace(" ", " 0x")
            yield f"{between}{{offset:{base + start:#x}, size:{len(packet)}, payload:{payload}}}"
            between = " ,\n"
    yield "\n}\n" if between else "}\n"
