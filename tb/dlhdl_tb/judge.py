"""Judges a run of the Deep Learning HDL processor by what its registers and its memory ports show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlhdl_models.single import Bounded
from dlhdl_tb.expect import expectations
from dlhdl_tb.handshake_rules import HandshakeRule
from dlhdl_tb.network import Value
from dlhdl_tb.program import ACTIVATION_BASE, Slots, packed
from dlhdl_tb.scenario import DlhdlScenario
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.detail import BadAccess, HandshakeViolation, MoreBadAccesses, Note, PortViolation, UnknownPin
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.scoreboard import Scoreboard
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.nvdla.memory import MemoryImage, Ram

_TOLD_FAULTS = 20


class DlhdlJudge:
    """Predicts each frame that is given, compares every byte that is written, and checks the handshake.

    ::

        judge = DlhdlJudge(scenario, image)
        judge.given(0, cycle)           # frame 0 is in memory, and the core was told
        judge.writes(beats)
        judge.offered(0, address, size, cycle)
        verdict = judge.finish()
    """

    def __init__(self, scenario: DlhdlScenario, image: MemoryImage) -> None:
        """Start before the first frame."""
        self.scenario, self.image = scenario, image
        self.scoreboard = Scoreboard()
        self.verdict: Verdict = self.scoreboard.verdict
        self.dropping = False
        self._program = scenario.program
        self._layers = len(self._program.network.layers)
        self._results: dict[int, list[Value]] = {}
        self._told: set[tuple[Any, ...]] = set()
        self._index = 0
        self._faults = 0
        self.begin()

    def begin(self) -> None:
        """Forget frames, as a reset of the core does: what layers lack is not missing."""
        self.scoreboard.abandon()
        self.scoreboard.forget()
        self._first: dict[int, int] = {}
        self._readable: set[int] = set()
        self._unread: dict[int, int] = {}
        self._input: tuple[int, int] | None = None
        self._output: tuple[int, int] | None = None
        self._complete: set[int] = set()

    # The host

    def given(self, frame: int, cycle: int) -> None:
        """Note that a frame is in memory and that the core was told; ``cycle`` is that of the beginning."""
        program = self._program
        if frame not in self._results:
            self._results[frame] = results_of(self.scenario, frame)
        self._first[frame] = self._index
        for expectation in expectations(program, self._results[frame], frame, self._index):
            self.scoreboard.expect(expectation)
        self._index += self._layers
        self._readable.add(frame % program.inputs.count)
        self._input = None

    def asked(self, frame: int, address: int, nbytes: int, cycle: int) -> None:
        """Judge InputAddr and InputSize while InputValid is 1, for the frame that is to be given next."""
        slots = self._program.inputs
        self._readable.discard(frame % slots.count)
        rules = (HandshakeRule.INPUT_STAYS, HandshakeRule.INPUT_ADDRESS, HandshakeRule.INPUT_SIZE)
        self._judge_slot(slots, frame, (address, nbytes), self._input, rules, cycle)
        self._input = (address, nbytes)

    def asked_beyond(self, frame: int, cycle: int) -> None:
        """Note that InputValid is 1 although the last frame was given."""
        self._violate(HandshakeRule.INPUT_BEYOND, frame, "InputValid is 1", cycle)

    def offered(self, frame: int, address: int, nbytes: int, cycle: int) -> None:
        """Judge OutputAddr and OutputSize while OutputValid is 1, for the result that must be next."""
        slots = self._program.outputs
        if frame not in self._first:
            self._violate(HandshakeRule.OUTPUT_UNASKED, frame, f"OutputAddr is {address:#x}", cycle)
            return
        rules = (HandshakeRule.OUTPUT_STAYS, HandshakeRule.OUTPUT_ADDRESS, HandshakeRule.OUTPUT_SIZE)
        self._judge_slot(slots, frame, (address, nbytes), self._output, rules, cycle)
        if self._output is None:
            self._unread[frame % slots.count] = frame
            self._end(frame, HandshakeRule.OUTPUT_EARLY, cycle)
        self._output = (address, nbytes)

    def read_out(self, frame: int) -> None:
        """Note that the host has read a result, and is about to say so."""
        self._unread.pop(frame % self._program.outputs.count, None)
        self._output = None

    def done(self, cycle: int) -> None:
        """Judge that ``done`` rose."""
        for frame in self._first:
            self._end(frame, HandshakeRule.DONE_EARLY, cycle)

    def streaming_done(self, frame: int, *, owed: bool, cycle: int) -> None:
        """Judge that StreamingDone rose.

        Args:
            frame: the next result.
            owed: whether results are owed to the host.
            cycle: when it was read.
        """
        if owed:
            self._violate(HandshakeRule.STREAMING_DONE_EARLY, frame, "StreamingDone is 1", cycle)

    def moved_while_held(self, cycle: int) -> None:
        """Note that memory did not rest while IPCore_Enable was 0."""
        self._violate(HandshakeRule.HELD, 0, "a master moved", cycle)

    # The memory ports

    def reads(self, ram: Ram, address: int, nbytes: int, axi_id: int, cycle: int) -> None:
        """Judge a burst of reads that was accepted."""
        self._access(ram, address, nbytes, axi_id, cycle, reading=True)
        if self.dropping:
            return
        slots = self._program.inputs
        first = self._slot(slots, address)
        if first is not None and first not in self._readable:
            self._violate(HandshakeRule.READ_EARLY, first, f"address {address:#x} is read", cycle)

    def writes(self, beats: Beats) -> None:
        """Judge a burst of writes that is whole."""
        nbytes = int(beats.strobe.sum())
        address, cycle = int(beats.address[0]), int(beats.cycle[0])
        self._access(beats.ram, address, nbytes, int(beats.axi_id[0]), cycle, reading=False)
        if self.dropping:
            return
        slot = self._slot(self._program.outputs, address)
        if slot is not None and slot in self._unread:
            self._violate(HandshakeRule.OVERWRITTEN, self._unread[slot], f"address {address:#x} is written", cycle)
        self.scoreboard.write_beats(beats)

    def broken(self, ram: Ram, rule: int, cycle: int) -> None:
        """Note a rule of AXI4 that a master broke, as its index in ``wrapped_rules.MEMORY_RULES``."""
        self.verdict.add(Finding(Check.PROTOCOL, PortViolation(ram, rule), cycle))

    def unknown(self, ram: Ram, pin: str, value: str, cycle: int) -> None:
        """Note a pin that is X or Z while its valid is high."""
        if (ram, pin) not in self._told:
            self._told.add((ram, pin))
            self.verdict.add(Finding(Check.PROTOCOL, UnknownPin(ram, pin, value), cycle))

    def register(self, message: str, cycle: int) -> None:
        """Note an access to a register that was not answered as it must be."""
        self.verdict.add(Finding(Check.REGISTER, Note(message), cycle))

    def cleared(self, name: str, value: int, cycle: int) -> None:
        """Judge a register that was read after a reset."""
        if value:
            self.register(f"{name} must be 0 after a reset, not {value:#x}", cycle)

    # The end

    def hang(self, message: str, cycle: int) -> None:
        """Note that nothing moves any more."""
        self.verdict.add(Finding(Check.HANG, Note(f"hang: {message}, at cycle {cycle}"), cycle))

    def finish(self, cycles: int) -> Verdict:
        """Judge the rest and return the verdict."""
        self.scoreboard.finish()
        if self._faults > _TOLD_FAULTS:
            self.verdict.add(Finding(Check.MEMORY, MoreBadAccesses(self._faults - _TOLD_FAULTS)))
        self.verdict.memory_faults = self._faults
        self.verdict.cycles = cycles
        return self.verdict

    def _end(self, frame: int, rule: HandshakeRule, cycle: int) -> None:
        """Note that the core says that a frame is computed: what is not in memory by now is missing."""
        if frame in self._complete:
            return
        self._complete.add(frame)
        first = self._first[frame]
        lacking = sum(self.scoreboard.lacking(index) for index in range(first, first + self._layers))
        if lacking:
            self._violate(rule, frame, f"{lacking} bytes are not written", cycle)
        for index in range(first, first + self._layers):
            self.scoreboard.end_layer(index)

    def _judge_slot(
        self,
        slots: Slots,
        frame: int,
        got: tuple[int, int],
        before: tuple[int, int] | None,
        rules: Sequence[HandshakeRule],
        cycle: int,
    ) -> None:
        """Judge address and size: they stay, and are those of the slot."""
        if before is not None:
            if got != before:
                self._violate(rules[0], frame, f"{before[0]:#x} + {before[1]} became {got[0]:#x} + {got[1]}", cycle)
            return
        if got[0] != slots.offset(frame):
            self._violate(rules[1], frame, f"{got[0]:#x} instead of {slots.offset(frame):#x}", cycle)
        if got[1] != slots.stride:
            self._violate(rules[2], frame, f"{got[1]} instead of {slots.stride}", cycle)

    def _violate(self, rule: HandshakeRule, frame: int, seen: str, cycle: int) -> None:
        if (rule,) not in self._told:
            self._told.add((rule,))
            broken = HandshakeViolation(int(rule), rule.text, frame, seen)
            self.verdict.add(Finding(Check.PROTOCOL, broken, cycle))

    def _slot(self, slots: Slots, address: int) -> int | None:
        """Return the slot that an address lies in, or None."""
        offset = address - ACTIVATION_BASE - slots.region.offset
        return offset // slots.stride if 0 <= offset < slots.count * slots.stride else None

    def _access(self, ram: Ram, address: int, nbytes: int, axi_id: int, cycle: int, *, reading: bool) -> None:
        bad = self.image.first_bad_byte(address, nbytes, reading=reading)
        if bad is None:
            return
        self._faults += 1
        if self._faults <= _TOLD_FAULTS:
            detail = BadAccess(ram, reading, nbytes, address, axi_id, bad.address, bad.outside, bad.place)
            self.verdict.add(Finding(Check.MEMORY, detail, cycle))


def results_of(scenario: DlhdlScenario, frame: int) -> list[Value]:
    """Return what each layer must give for a frame: by the model, and of the network by the user where he says it."""
    results = list(scenario.program.network.results(scenario.frames[frame]))
    if scenario.expected is not None:
        last, own = results[-1], scenario.expected[frame]
        results[-1] = Bounded(own.astype(np.float64), last.bound) if isinstance(last, Bounded) else own
    return results


def packed_frame(scenario: DlhdlScenario, frame: int) -> NDArray[np.uint8]:
    """Return the bytes of an input frame, padding lanes as 0 or loud."""
    layout = scenario.program.network.input.layout
    return packed(layout, scenario.frames[frame], scenario.program.loud)
