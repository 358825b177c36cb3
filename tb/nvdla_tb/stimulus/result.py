"""Results: how one test ended, in a form that lasts; all that plays something yields one."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec

from nvdla_models.reading import read_json
from nvdla_tb.judge.layer_facts import LayerFacts
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.plain_data import converted
from nvdla_tb.stimulus.explained import Explained
from nvdla_tb.writing import writing


class Device(NamedTuple):
    """The device that results are of, however it was simulated: a configuration, and the user's filelist or None."""

    config: str
    rtl: str | None

    def __str__(self) -> str:
        """Return it in words."""
        return f"{self.config} on {self.rtl or 'the embedded DUT'}"


class Dut(msgspec.Struct, frozen=True):
    """The device under test: the options that select it, paths absolute.

    Attributes:
        config: Name or TOML file of the configuration.
        simulator: Its name, as in ``nvdla_tb.run.simulators.SIMULATORS``.
        rtl: The user's filelist, or None for the embedded DUT.
        top: The RTL's top module.
        port_map: TOML of port differences, or None.
        debug: Whether all signals are visible.
        backend: ``native`` or ``coroutine``; runs stored before there was a choice had the latter.
        coverage: What is counted of the RTL's code: ``line``, ``toggle``, ``both``, or None.
        evidence: Digest of what its results are evidence of, see ``evidence``; empty when they are of nothing.
    """

    config: str
    simulator: str
    rtl: str | None = None
    top: str = "NV_nvdla"
    port_map: str | None = None
    debug: bool = False
    backend: str = "coroutine"
    coverage: str | None = None
    evidence: str = ""

    @property
    def device(self) -> Device:
        """The device that results are of."""
        return Device(self.config, self.rtl)


class Performance(msgspec.Struct, frozen=True):
    """How fast a scenario was played.

    Attributes:
        cycles_per_second: simulated clock cycles per second of processor time.
        start_seconds: processor time from the process's start to the first register access.
        peak_memory_bytes: largest resident size of the process.
    """

    cycles_per_second: float
    start_seconds: float
    peak_memory_bytes: int


class Result(msgspec.Struct, frozen=True):
    """How one test ended.

    Attributes:
        test: name of the scenario, or of a test in Python.
        seed: seed of all its data.
        dut: device that played it.
        rerun: the command that repeats just it.
        verdict: counts and findings.
        seconds: wall-clock time.
        folder: folder of its files, or None.
        performance: how fast it was played, None when no simulation said so.
        explained: why its bytes are wrong, None when they are right.
        coverage: how often the layers of a test that passed hit which bins of the coverage model.
        layers: what was judged and found of each layer, and when it ran.
        after: ``TEST.SEED`` that the simulator had played before, when the test fails after it and passes alone.
        rerun_waves: the command that repeats just it with waves, None when there is none.
    """

    test: str
    seed: int
    dut: Dut
    rerun: str
    verdict: Verdict
    seconds: float = 0.0
    folder: str | None = None
    performance: Performance | None = None
    explained: Explained | None = None
    coverage: dict[str, int] = {}
    layers: list[LayerFacts] = []
    after: str | None = None
    rerun_waves: str | None = None

    @property
    def identity(self) -> str:
        """``TEST.SEED``."""
        return identity(self.test, self.seed)

    @property
    def key(self) -> str:
        """The identity of the test in a run: ``TEST.SEED``, configuration and simulator."""
        return key(self.test, self.seed, self.dut)

    @property
    def ending(self) -> Ending:
        """How it ended."""
        return self.verdict.ending

    @property
    def cause(self) -> tuple[str, str] | None:
        """Name and words of the probable cause of the first layer that has one; None without any."""
        layers = () if self.explained is None else self.explained.layers
        return next(((layer.causes[0], layer.headline) for layer in layers if layer.causes), None)

    def encode(self) -> bytes:
        """Return the result as JSON."""
        return msgspec.json.encode(self)

    @classmethod
    def load(cls, path: Path) -> Result:
        """Return the result in a file.

        Raises:
            InputError: for another file.
        """
        return converted(read_json(path), cls, f"{path}: a result")

    def save(self, path: Path) -> None:
        """Write the result to a file, which is there as a whole or not at all."""
        part = path.with_name(f".{path.name}")
        with writing(path):
            part.write_bytes(msgspec.json.format(self.encode(), indent=1))
            part.replace(path)


def identity(test: str, seed: int) -> str:
    """Return ``TEST.SEED``."""
    return f"{test}.{seed}"


def key(test: str, seed: int, dut: Dut) -> str:
    """Return the identity of a test in a run: ``TEST.SEED``, configuration and simulator."""
    return f"{identity(test, seed)}.{Path(dut.config).stem}.{dut.simulator}"
