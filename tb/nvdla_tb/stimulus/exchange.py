"""Messages between launcher and simulator: one request, one answer, both JSON.

A simulator that is started for one test finds its request in the environment; one that serves many gets a line for
each over a socket. The answer to a scenario goes to a file, which stays in the folder of its run.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from nvdla_models.errors import InputError
from nvdla_models.reading import read_json
from nvdla_tb.judge.layer_facts import LayerFacts
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.nvdla.memory import Range
from nvdla_tb.plain_data import converted
from nvdla_tb.writing import writing

REQUEST = "NVDLA_REQUEST"
"""The environment variable that holds the request."""


ACCESSES_FILE = "driver.log"
"""File beside the answer with the accesses of a driver, the last ones at the end."""

LAST_ACCESSES = 8
"""How many of them a finding names."""

ENTRY = "nvdla_tb_main"
"""The function of a driver that is called when none is named."""

SILENT_SECONDS = 30.0
"""How long a driver may compute without asking anything of the bench when nothing else is said."""


class Driver(msgspec.Struct, frozen=True):
    """A driver in C or C++.

    Attributes:
        library: its shared library.
        entry: the function that is called.
        silent_seconds: wall-clock time that it may compute without asking anything of the bench.
    """

    library: str
    entry: str = ENTRY
    silent_seconds: float = SILENT_SECONDS

    @property
    def name(self) -> str:
        """File and function, as findings name it."""
        return f"{Path(self.library).name}:{self.entry}"


class Request(msgspec.Struct, frozen=True):
    """A task for a simulator; paths are absolute.

    Attributes:
        config: name or TOML file of the configuration.
        scenario: folder of the scenario to play, None for a test in Python.
        result: file for the answer.
        log: file for everything that is printed meanwhile, None to go on as before.
        altered: file of bytes that only the DUT finds in its memory.
        test: ``TEST.SEED``.
        rerun: command that repeats the test.
        rerun_waves: the same with waves.
        waves_from: ``cycle:N`` or ``layer:N``: no waves are written before.
        stages: file of hand-overs to watch inside the DUT.
        cycles: how long to clock an idle DUT.
        traffic: whether to record what each port moves.
        dump: ranges of memory to save beside the answer.
        dumps: folder for what memory holds at each comparison and at the end, None to keep nothing of it.
        about: device under test, for pages.
        kept: folder that what the test leaves will lie in, None when that is where it is left.
        driver: what plays after the scenario, which then holds memory and golden results, None without one.
    """

    config: str
    scenario: str | None = None
    result: str | None = None
    log: str | None = None
    altered: str | None = None
    test: str | None = None
    rerun: str | None = None
    rerun_waves: str | None = None
    waves_from: str = "cycle:0"
    stages: str | None = None
    cycles: int = 0
    traffic: bool = False
    dump: tuple[Range, ...] = ()
    dumps: str | None = None
    about: str = ""
    kept: str | None = None
    driver: Driver | None = None

    @classmethod
    def from_env(cls, config: str | None = None) -> Request:
        """Return the request that the launcher left in the environment.

        Args:
            config: Configuration of a test that nobody asked for anything: then it is all of the request.

        Raises:
            InputError: when there is neither.
        """
        text = os.environ.get(REQUEST)
        if text is None and config is not None:
            return cls(config)
        if text is None:
            raise InputError(f"{REQUEST} must hold the launcher's request, or a configuration must be given")
        return cls.decode(text)

    @classmethod
    def decode(cls, text: str | bytes) -> Request:
        """Return the request that ``encode`` made text of."""
        return msgspec.json.decode(text, type=cls)

    def encode(self) -> str:
        """Return the request as one line."""
        return msgspec.json.encode(self).decode()


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


class Traits(msgspec.Struct, frozen=True):
    """The traits that all wrong elements of a layer have.

    Attributes:
        wrong: how many wrong elements were looked at.
        right: by trait, how many right elements have it, and of how many.
        tried: how many traits were looked at.
    """

    wrong: int
    right: dict[str, tuple[int, int]]
    tried: int


class Explained(msgspec.Struct, frozen=True):
    """Why bytes are wrong.

    Attributes:
        lines: the explanation in words.
        why: of these lines, the first one that says why the first layer is wrong, and the one after the last.
        causes: names of the probable causes of each layer, the best first.
        equal: those that predict the same bytes as the best, for each layer.
        headlines: the best cause of each layer in words, or that none fits.
        symptoms: whether the best says no more than what the bytes look like, for each layer.
        leads: where no cause is known, what failing layers have and passing ones have not; of the first of its kind.
        blamed: units whose faults look like the best cause of the first layer or an equal one, values of ``Unit``.
        units: the units that the findings point at, each with its reason.
        named: of each of these lines, the units that it names, values of ``nvdla_tb.explain.units.Unit``.
        stages: what was seen of hand-overs inside, when they were watched.
        cleared: units of which all that was watched is right, values of ``Unit``.
        located: whether these were compared from the first to the one that is wrong.
        traits: of each layer without a probable cause, the traits of its wrong elements, where they can be told.
    """

    lines: list[str]
    causes: list[list[str]]
    equal: list[list[str]]
    headlines: list[str] = []
    symptoms: list[bool] = []
    leads: list[str] = []
    units: list[str] = []
    stages: list[str] = []
    cleared: list[str] = []
    blamed: list[str] = []
    located: bool = False
    traits: list[Traits] = []
    named: list[list[str]] = []
    why: tuple[int, int] = (0, 0)


class Answer(msgspec.Struct, frozen=True):
    """The outcome of a scenario, as the file in its folder holds it."""

    verdict: Verdict
    performance: Performance
    rerun: str | None = None
    rerun_waves: str | None = None
    explained: Explained | None = None
    layers: list[LayerFacts] = []

    @classmethod
    def load(cls, path: Path) -> Answer | None:
        """Return the answer in a file, or None when there is no such file.

        Raises:
            InputError: for a file that holds none.
        """
        if not path.is_file():
            return None
        return converted(read_json(path), cls, f"{path} must hold the result of a scenario")

    def save(self, path: Path) -> None:
        """Write the answer to a file, which is there as a whole or not at all."""
        part = path.with_name(f".{path.name}")
        with writing(path):
            part.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=1))
            part.replace(path)
