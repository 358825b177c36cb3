"""Results: how one test ended, in a form that lasts; every command that plays something yields them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from nvdla_models.reading import read_json
from nvdla_tb.judge.layer_facts import LayerFacts
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.plain_data import converted
from nvdla_tb.run.dut import Dut
from nvdla_tb.run.folders import folder_name
from nvdla_tb.stimulus.exchange import Explained, Performance


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

    def encode(self) -> bytes:
        """Return the result as JSON."""
        return msgspec.json.encode(self)

    @classmethod
    def load(cls, path: Path) -> Result:
        """Return the result in a file that holds what ``encode`` made.

        Raises:
            InputError: for another file.
        """
        return converted(read_json(path), cls, f"{path}: a result")


def identity(test: str, seed: int) -> str:
    """Return ``TEST.SEED``."""
    return f"{test}.{seed}"


def key(test: str, seed: int, dut: Dut) -> str:
    """Return the identity of a test in a run: ``TEST.SEED``, configuration and simulator."""
    return f"{identity(test, seed)}.{Path(dut.config).stem}.{dut.simulator}"


def failure_folder(run_folder: Path, key: str) -> Path:
    """Return the folder that the failure of a test is left in, below that of its run."""
    return run_folder / folder_name(key)
