"""What the launcher asks of a simulator, as JSON.

A simulator that is started for one test finds its request in the environment; one that serves many gets a line for
each over a socket. The answer, the ``Result`` of a scenario, goes to a file, which stays in the folder of its run.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from nvdla_models.errors import InputError
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.nvdla.memory import Range
from nvdla_tb.plain_data import decoded
from nvdla_tb.stimulus.result import Dut, Result

REQUEST = "NVDLA_REQUEST"
"""The environment variable that holds the request."""

ACCESSES_FILE = "driver.log"
"""File beside the answer with the accesses of a driver, the last ones at the end."""

LAST_ACCESSES = 8
"""How many of a driver's last accesses a finding names."""

PINS_MARKER = "nvdla_pins"
"""Marker of a test in Python that needs the pins of CSB and memory, which the native back end has not."""

RAISED_FILE = "raised.json"
"""File beside the answer with what ended a test in Python by an exception."""

ENTRY = "nvdla_tb_main"
"""The function of a driver that is called when none is named."""

POINTS_FILE = "points.dat"
"""File beside the answer with the points of a model's code."""

FIRST_POINT = 1 << 24
"""Number of the first point of a model's code: the sum of any two is beyond all."""

SILENT_SECONDS = 30.0
"""How long a driver may compute without asking anything of the bench when nothing else is said."""


class Driver(msgspec.Struct, frozen=True):
    """A driver in C or C++, or whatever stands behind a client in another process.

    Attributes:
        library: its shared library.
        entry: the function that is called.
        silent_seconds: wall-clock time that it may compute without asking anything of the bench, or to connect.
        where: path of the Unix socket that a client connects to, or the number of a port; None for a library.
    """

    library: str = ""
    entry: str = ENTRY
    silent_seconds: float = SILENT_SECONDS
    where: str | None = None

    @property
    def name(self) -> str:
        """File and function, or the place of a client, as findings name it."""
        return f"{Path(self.library).name}:{self.entry}" if self.where is None else f"at {self.where}"


class Request(msgspec.Struct, frozen=True):
    """A task for a simulator; paths are absolute.

    Attributes:
        config: name or TOML file of the configuration.
        scenario: folder in which the scenario to play was handed over, None for a test in Python.
        module: module of that test.
        result: file for the answer: the ``Result`` of what was played.
        log: file for everything that is printed meanwhile, None to go on as before.
        altered: file of bytes that only the DUT finds in its memory.
        begun: the result of the test before it is played, None when nobody asks for one.
        waves_from: ``cycle:N`` or ``layer:N``: no waves are written before.
        stages: file of hand-overs to watch inside the DUT.
        cycles: how long to clock an idle DUT.
        traffic: whether to record what each port moves.
        dump: ranges of memory to save beside the answer.
        dumps: folder for what memory holds at each comparison and at the end, None to keep nothing of it.
        about: device under test, for pages.
        kept: folder that what the test leaves will lie in, None when that is where it is left.
        driver: what plays after the scenario, which then holds memory and golden results, None without one.
        counts: file for what the scenario reaches of the RTL's code: 32 bits for each point, in the order of the model.
    """

    config: str
    scenario: str | None = None
    module: str | None = None
    result: str | None = None
    log: str | None = None
    altered: str | None = None
    begun: Result | None = None
    waves_from: str = "cycle:0"
    stages: str | None = None
    cycles: int = 0
    traffic: bool = False
    dump: tuple[Range, ...] = ()
    dumps: str | None = None
    about: str = ""
    kept: str | None = None
    driver: Driver | None = None
    counts: str | None = None

    @property
    def so_far(self) -> Result:
        """The result that whoever carries this out completes."""
        name = "" if self.result is None else Path(self.result).parent.name
        return self.begun or Result(name, 0, Dut(self.config, ""), "", Verdict.not_played())

    @classmethod
    def from_env(cls, config: str | None = None) -> Request:
        """Return the request that the launcher left in the environment.

        Args:
            config: Configuration for a test that no launcher has started: then it is all of the request.

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
        return decoded(text, cls)

    def encode(self) -> str:
        """Return the request as one line."""
        return msgspec.json.encode(self).decode()
