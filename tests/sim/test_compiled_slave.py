"""The compiled slave answers every access once, in order and with what memory holds; each fault of it is seen."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections import deque
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nvdla_tb.judge.port_rules import PortRule, PortRules
from nvdla_tb.run.compile.runners import HARNESS_DIR
from nvdla_tb.run.compile.toolchain import verilator_root
from nvdla_tb.sim.native import PortSettingsRecord

WIDTH_BYTES = 8
BURST_BYTES = 4 * WIDTH_BYTES
EDGES = 3000
LOST = "accesses that were never answered"

SETTINGS = {
    "as soon as possible": {"latency_cycles": 1},
    "stalls in order": {"latency_cycles": 9, "jitter_cycles": 30, "ready_stall": 0.3, "valid_stall": 0.3},
    "out of order": {
        "latency_cycles": 9, "jitter_cycles": 30, "ready_stall": 0.3, "valid_stall": 0.3, "reorder": 1,
    },
    "any channel stands still": {
        "latency_cycles": 3, "write_latency_cycles": 40, "pause_cycles": 60, "pause_period_cycles": 110,
    },
}  # fmt: skip

PUSH_READ = "read_answers_.push(std::move(response));"
WRITE_DUE = "due(Draws::WRITE_JITTER, settings_.write_latency_cycles)"
PUSH_WRITE = f"write_answers_.push({{burst.address, {WRITE_DUE}, burst.id, 1, written, {{}}}});"
PUSH_ADDRESS = "addresses_.push_back("
FAULTS: dict[str, tuple[tuple[tuple[str, str], ...], int | str]] = {
    "a read is not answered": (((PUSH_READ, f"if (handshakes % 64) {PUSH_READ}"),), LOST),
    "a write is not answered": (((PUSH_WRITE, f"if (handshakes % 64) {PUSH_WRITE}"),), LOST),
    "a read is answered twice": (
        ((PUSH_READ, f"if (handshakes % 64 == 0) read_answers_.push(response); {PUSH_READ}"),),
        PortRule.READ_UNASKED,
    ),
    "a write is answered twice": (
        ((PUSH_WRITE, f"{PUSH_WRITE} if (handshakes % 64 == 0) {PUSH_WRITE}"),),
        PortRule.WRITE_UNASKED,
    ),
    "a write is answered before its data": (
        ((PUSH_WRITE, ""), (PUSH_ADDRESS, f"write_answers_.push({{0, 0, in.awid, 1, 0, {{}}}}); {PUSH_ADDRESS}")),
        PortRule.WRITE_UNASKED,
    ),
    "a read is answered with another id": (
        (("settings_.latency_cycles), id, beats", "settings_.latency_cycles), uint8_t(id + 8), beats"),),
        PortRule.READ_UNASKED,
    ),
    "a write is answered with another id": (
        ((PUSH_WRITE, PUSH_WRITE.replace("burst.id", "7")),),
        PortRule.WRITE_UNASKED,
    ),
    "answers of an id overtake each other": ((("if (seen[waiting_[n].id]) continue;", ""),), PortRule.READ_DATA),
    "a burst is answered with its first word": (
        (("memory.read_word(start + n * width", "memory.read_word(start"),),
        PortRule.READ_DATA,
    ),
    "a write does not reach memory": (
        (("memory.write_word(", "if (handshakes % 64) memory.write_word("),),
        PortRule.READ_DATA,
    ),
    "an answer ends too late": ((("beat + 1 == response.beats", "beat == response.beats"),), PortRule.READ_LAST),
    "an answer goes on behind its end": (
        (("++beat_ < current_.beats", "++beat_ <= current_.beats"),),
        PortRule.READ_LAST,
    ),
    "valid falls before ready": ((("if (active_ && !valid_)\n", "if (active_)\n"),), PortRule.R_DROPPED),
    "an answer to a write is taken back": ((("if (active_ && !valid_)\n", "if (active_)\n"),), PortRule.B_DROPPED),
    "an answer does not wait for ready": (
        (("if (active_ && valid_ && ready)", "if (active_ && valid_)"),),
        PortRule.R_CHANGED,
    ),
}  # fmt: skip
"""Changes of the slave's source, and the rule that it then breaks."""


class Slave:
    """A compiled slave as a library of this process."""

    def __init__(self, path: Path, settings: dict[str, float]) -> None:
        self._library = ctypes.CDLL(str(path))
        values = {
            "reorder": 0, "jitter_cycles": 0, "ready_stall": 0.0, "valid_stall": 0.0,
            "write_latency_cycles": settings["latency_cycles"], **settings,
        }  # fmt: skip
        record = PortSettingsRecord(seed=3, bus_bytes=WIDTH_BYTES, atom_bytes=WIDTH_BYTES, **values)
        self._library.nvb_port_configure(0, ctypes.byref(record))
        everything = (ctypes.c_uint64 * 2)(0, EDGES * BURST_BYTES - 1)
        self._library.nvb_port_allocate(0, everything, 1)
        self._cycle = 0
        self._flags, self._ids, self._data = ctypes.c_int(), ctypes.c_int(), (ctypes.c_uint8 * 64)()
        self._library.harness_port_pins(0, ctypes.byref(self._flags), ctypes.byref(self._ids), self._data)

    def high(self, bit: int) -> bool:
        return bool(self._flags.value >> bit & 1)

    @property
    def read_answer(self) -> tuple[int, int, int] | None:
        """Id, data and last of the beat on the pins."""
        data = int.from_bytes(bytes(self._data[:WIDTH_BYTES]), "little")
        return (self._ids.value & 255, data, self.high(4)) if self.high(3) else None

    @property
    def write_answer(self) -> tuple[int] | None:
        return (self._ids.value >> 16 & 255,) if self.high(5) else None

    def edge(self, flags: int, ids: int, araddr: int, awaddr: int, wdata: int) -> None:
        self._library.test_set_cycle(ctypes.c_int64(self._cycle))
        self._cycle += 1
        data = (ctypes.c_uint8 * 64)(*wdata.to_bytes(WIDTH_BYTES, "little"))
        strobe = (ctypes.c_uint8 * 8)(255)
        reset_off = 1 << 6
        self._library.harness_port_edge(
            0, flags | reset_off, ids, ctypes.c_uint64(araddr), ctypes.c_uint64(awaddr), data, strobe,
            ctypes.byref(self._flags), ctypes.byref(self._ids), self._data,
        )  # fmt: skip


class Burst:
    """One burst of a master; each has an address of its own, and is read only once its write was answered."""

    def __init__(self, number: int, rng: np.random.Generator) -> None:
        self.address, self.axi_id = number * BURST_BYTES, int(rng.integers(4))
        self.words = [int(word) for word in rng.integers(1 << 63, size=rng.integers(1, 5))]
        self.beats_left = len(self.words)


class Master:
    """A master that writes bursts, reads them again, and judges all answers."""

    def __init__(self, slave: Slave, rules: PortRules) -> None:
        self.slave, self.rules = slave, rules
        self.rng = np.random.default_rng(1)
        self.addresses: deque[Burst] = deque()
        self.beats: deque[Burst] = deque()
        self.written: dict[int, deque[Burst]] = {n: deque() for n in range(4)}
        self.known: list[Burst] = []
        self.reading: Burst | None = None
        self.bursts = self.asked = self.answered = 0

    def play(self) -> None:
        for edge in range(EDGES):
            self.edge(asking=edge < EDGES - 800)

    def edge(self, *, asking: bool) -> None:
        rng, slave = self.rng, self.slave
        if asking and rng.random() < 0.2:
            burst = Burst(self.bursts, rng)
            self.bursts += 1
            self.addresses.append(burst)
            self.beats.append(burst)
        if asking and self.reading is None and self.known and rng.random() < 0.3:
            self.reading = self.known[rng.integers(len(self.known))]
        rready, bready = (int(rng.random() < 0.6) for _ in range(2))
        read, address, beat = self.reading, next(iter(self.addresses), None), next(iter(self.beats), None)
        self.rules.offer("r", slave.read_answer, taken=bool(rready))
        self.rules.offer("b", slave.write_answer, taken=bool(bready))
        taken = (slave.read_answer if rready else None, slave.write_answer if bready else None)
        ready = [slave.high(bit) for bit in range(3)]
        word = beat.words[-beat.beats_left] if beat else 0
        slave.edge(
            (read is not None) | (address is not None) << 1 | (beat is not None) << 2 | rready << 3 | bready << 4
            | (beat is not None and beat.beats_left == 1) << 5
            | (len(read.words) - 1 if read else 0) << 8 | (len(address.words) - 1 if address else 0) << 16,
            (read.axi_id if read else 0) | (address.axi_id if address else 0) << 16,
            read.address if read else 0, address.address if address else 0, word,
        )  # fmt: skip
        self._answered(*taken)
        if read and ready[0]:
            self.rules.read(read.axi_id, read.words)
            self.reading, self.asked = None, self.asked + 1
        if address and ready[1]:
            self.addresses.popleft()
        if beat and ready[2]:
            beat.beats_left -= 1
            if beat.beats_left == 0:
                self.beats.popleft()
        self._complete(address if address and ready[1] else None, beat if beat and ready[2] else None)

    def _complete(self, address: Burst | None, beat: Burst | None) -> None:
        """Note writes whose address and data the slave has both taken by now."""
        for burst in {address, beat} - {None}:
            assert burst is not None
            if burst.beats_left == 0 and burst not in self.addresses:
                self.rules.write(burst.axi_id)
                self.written[burst.axi_id].append(burst)
                self.asked += 1

    def _answered(self, read: tuple[int, int, int] | None, write: tuple[int] | None) -> None:
        if read is not None:
            self.rules.read_answer(read[0], read[1], last=bool(read[2]))
            self.answered += bool(read[2])
        if write is not None:
            self.rules.write_answer(write[0])
            self.answered += 1
            if self.written.get(write[0]):
                self.known.append(self.written[write[0]].popleft())


Compile = Callable[[tuple[tuple[str, str], ...]], Path]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Compile the slave, altered as it is said, into a library; what is around it is compiled once."""
    base = tmp_path_factory.mktemp("slave")
    for name in ("port.h", "memory.cpp", "memory.h", "harness.h"):
        shutil.copy(HARNESS_DIR / name, base)
    # Verilator writes the one that declares what the model calls; the slave needs its types only.
    (base / "Vtop__Dpi.h").write_text('#include "svdpi.h"\n', encoding="utf-8")
    command = ["c++", "-std=c++17", "-fPIC", f"-I{base}", f"-I{verilator_root() / 'include' / 'vltstd'}"]
    objects = []
    for source in (base / "memory.cpp", Path(__file__).with_name("compiled_slave.cpp")):
        objects.append(str(base / f"{source.stem}.o"))
        subprocess.run([*command, "-c", str(source), "-o", objects[-1]], check=True)

    def compile_it(changes: tuple[tuple[str, str], ...]) -> Path:
        text = (HARNESS_DIR / "port.cpp").read_text(encoding="utf-8")
        for old, new in changes:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        folder = tmp_path_factory.mktemp("altered")
        (folder / "port.cpp").write_text(text, encoding="utf-8")
        library = folder / "slave.so"
        options = ("-shared", "-Wl,-Bsymbolic", str(folder / "port.cpp"), *objects, "-o", str(library))
        subprocess.run([*command, *options], check=True)
        return library

    return compile_it


def broken(library: Path, settings: dict[str, float]) -> tuple[set[int | str], int]:
    """Return what a slave does wrong, and how many accesses it was asked for."""
    found: set[int | str] = set()
    master = Master(Slave(library, settings), PortRules(found.add))
    master.play()
    if master.answered < master.asked:
        found.add(LOST)
    return found, master.asked


def test_the_slave_keeps_every_rule(compiled: Compile) -> None:
    library = compiled(())
    for settings in SETTINGS.values():
        found, asked = broken(library, settings)
        assert found == set()
        assert asked > 300


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_slave_is_seen(compiled: Compile, fault: str) -> None:
    changes, rule = FAULTS[fault]
    found, _ = broken(compiled(changes), SETTINGS["out of order"])
    assert rule in found
