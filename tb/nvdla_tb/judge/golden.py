"""The board of the model alone: layers write to memory at once, and golden results are compared with it."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.detail import CrcMismatch, ShortGolden, UnpredictedGolden
from nvdla_tb.judge.expected import Expected
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.predictor import Expectation
from nvdla_tb.judge.scoreboard import Scoreboard
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.program.ops import CheckCrc, CheckFile, CheckOp


class GoldenBoard(Scoreboard):
    """Takes the place of a DUT that is infinitely fast, and judges golden results.

    Golden bytes are judged as those of the layer that wrote there last. Bytes count as judged when a golden result
    covers them and a layer wrote them.
    """

    def __init__(self, memories: Mapping[Ram, MemoryImage], *, exact: bool) -> None:
        """Start without layers, which write to ``memories``; ``exact`` is that of a scoreboard."""
        super().__init__(exact)
        self.expectations: list[Expectation] = []
        self._memories = memories

    def expect(self, expectation: Expected) -> None:
        """Write what a layer writes."""
        assert isinstance(expectation, Expectation)
        self.expectations.append(expectation)
        self.verdict.layers += 1
        image = self._memories[expectation.ram]
        untouched = image.read_array(expectation.address, len(expectation.data))
        image.write(expectation.address, np.where(expectation.must_write, expectation.data, untouched))

    def write_beats(self, beats: Beats) -> None:
        """Refuse write beats: nothing but layers writes here."""
        raise TypeError(f"{len(beats)} beats must go to a scoreboard: the model alone writes to memory itself")

    def check(self, check: CheckOp) -> None:
        """Judge a golden result."""
        match check:
            case CheckCrc():
                self._count_predicted(check.ram, check.address, check.nbytes)
                crc = zlib.crc32(self._memories[check.ram].read(check.address, check.nbytes))
                self.verdict.crc_passed += crc == check.crc
                self.verdict.crc_failed += crc != check.crc
                if crc != check.crc:
                    wrong = CrcMismatch(check.address, check.nbytes, check.crc, crc)
                    self.verdict.add(Finding(Check.GOLDEN, wrong))
            case CheckFile():
                same = [self._compare(check, offset, data) for offset, data in check.chunks]
                same.append(self._is_whole(check))
                self.verdict.crc_passed += all(same)
                self.verdict.crc_failed += not all(same)

    def _compare(self, check: CheckFile, offset: int, data: bytes) -> bool:
        """Compare golden bytes with memory, and return whether they agree."""
        address = check.address + offset
        self._count_predicted(check.ram, address, len(data))
        golden = np.frombuffer(data, dtype=np.uint8)
        differs = self._memories[check.ram].read_array(address, len(data)) != golden
        self.verdict.differing_bytes += int(np.count_nonzero(differs))
        right = True
        rest = np.ones(len(data), dtype=np.bool_)
        for expectation in reversed(self.expectations):
            theirs, ours = expectation.overlap(check.ram, address, len(data))
            offsets = np.flatnonzero(rest[ours] & expectation.must_write[theirs]) + theirs.start
            at = offsets + expectation.address - address
            wrong = offsets[self._judge(expectation, offsets, golden[at], differs[at])]
            if len(wrong):
                right = False
                first = int(wrong[0])
                got = int(golden[expectation.address + first - address])
                detail = expectation.mismatch(wrong, first, got)
                self.verdict.add(Finding(Check.VALUE, detail, layer=expectation.started.id))
            rest[at] = False
        stray = np.flatnonzero(differs & rest)
        if len(stray):
            unpredicted = UnpredictedGolden(check.file_name, len(stray), address + int(stray[0]))
            self.verdict.add(Finding(Check.GOLDEN, unpredicted))
        return right and not len(stray)

    def _is_whole(self, check: CheckFile) -> bool:
        """Return whether a golden file holds all bytes of its check that layers write."""
        lacks = self._predicted(check.ram, check.address, check.nbytes)
        for offset, data in check.chunks:
            lacks[offset : offset + len(data)] = False
        missing = np.flatnonzero(lacks)
        if len(missing):
            short = ShortGolden(check.file_name, len(missing), check.address + int(missing[0]))
            self.verdict.add(Finding(Check.GOLDEN, short))
        return not len(missing)

    def _judge(
        self,
        expectation: Expected,
        offsets: NDArray[np.int64],
        golden: NDArray[np.uint8],
        differs: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """Return which golden bytes are wrong: by the tolerance where an element is there as a whole."""
        meter = None if self.exact else expectation.meter()
        if meter is None:
            return differs
        present = np.zeros(len(expectation.data), dtype=np.bool_)
        present[offsets] = True
        nbytes = expectation.element_bytes
        whole = present.reshape(-1, nbytes).all(axis=1).repeat(nbytes)[offsets]
        wrong = differs.copy()
        wrong[whole] = meter.write(offsets[whole], golden[whole])
        if meter.margin is not None:
            self.verdict.margins.append(meter.margin)
        return wrong

    def _count_predicted(self, ram: Ram, address: int, nbytes: int) -> None:
        """Count the bytes of a range that some layer was predicted to write."""
        self.verdict.judged_bytes += int(np.count_nonzero(self._predicted(ram, address, nbytes)))

    def _predicted(self, ram: Ram, address: int, nbytes: int) -> NDArray[np.bool_]:
        """Return which bytes of a range some layer was predicted to write."""
        predicted = np.zeros(nbytes, dtype=np.bool_)
        for expectation in self.expectations:
            theirs, ours = expectation.overlap(ram, address, nbytes)
            predicted[ours] |= expectation.must_write[theirs]
        return predicted
