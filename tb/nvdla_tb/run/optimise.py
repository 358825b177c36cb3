"""Models that are compiled by profile: their training, which model a device is played on, and builds beside a run."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event, Thread

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_tb.run import cache
from nvdla_tb.run.answers import RESULT_FILE
from nvdla_tb.run.choices import OPTIMISED
from nvdla_tb.run.compile.build import SILENT, Teller, build
from nvdla_tb.run.compile.recipe import PROFILE, Recipe, recipe_of
from nvdla_tb.run.compile.spec import Built
from nvdla_tb.run.dut import build_spec
from nvdla_tb.run.errors import LaunchError
from nvdla_tb.run.jobs import run_entry
from nvdla_tb.run.process import KILL_GRACE_SECONDS, InterruptedRunError
from nvdla_tb.run.simulators import SIMULATORS
from nvdla_tb.stimulus.exchange import Request
from nvdla_tb.stimulus.generate.plan import load_plan
from nvdla_tb.stimulus.handed_over import hand_over
from nvdla_tb.stimulus.result import Dut

"""How a model can be compiled: for one look, or for long play."""

_TIMEOUT_SECONDS = 600.0
_FOLDER = "training"


def optimised(dut: Dut, root: Path, teller: Teller = SILENT) -> Built:
    """Return the optimised model of a device; see ``build``.

    Raises:
        LaunchError: when it cannot be built.
    """
    spec = replace(build_spec(dut, waves=False), optimised=True)
    return build(spec, root, teller, partial(_train, config=dut.config))


class Model:
    """The compiled model of a device: by default the quick one, until the optimised one is there.

    Both give the same verdicts in the same cycles.
    """

    def __init__(self, dut: Dut, root: Path, build: str | None = None, teller: Teller = SILENT) -> None:
        """Remember what to play on, and which of ``BUILDS`` or the default; nothing is built before ``current``."""
        self._dut, self._root, self._build, self._teller = dut, root, build, teller
        self._recipe: Recipe | None = None
        self._built: Built | None = None

    def current(self) -> Built:
        """Return the model to play on now, which is built when it is missing.

        Raises:
            LaunchError: when it cannot be built.
        """
        if self._build == OPTIMISED:
            self._built = self._built or optimised(self._dut, self._root, self._teller)
        elif self._built is None or not self._built.spec.optimised:
            quick = partial(build, build_spec(self._dut, waves=False), self._root, self._teller)
            self._built = self._ready() or self._built or quick()
        return self._built

    def _ready(self) -> Built | None:
        """Return the optimised model if it may be taken and is there."""
        if self._build is not None or not SIMULATORS[self._dut.simulator].optimises:
            return None
        if self._recipe is None:
            # Once: this reads all of the RTL.
            self._recipe = recipe_of(replace(build_spec(self._dut, waves=False), optimised=True), self._root)
        if not self._recipe.is_built:
            return None
        cache.touch(self._recipe.directory)
        return self._recipe.built(0.0, cached=True)


def _train(model: Built, config: str) -> None:
    """Play each scenario of the training plan that the configuration can have.

    How one ends does not matter: RTL with a fault shall be compiled, too.
    """
    hardware = HwConfig.load(config)
    for entry in load_plan(PROFILE):
        try:
            scenario = entry.build(hardware, seed=1)
        except InputError:
            continue
        folder = model.directory / _FOLDER / entry.name
        hand_over(scenario, folder / "scenario")
        request = Request(config, scenario=str(folder / "scenario"), result=str(folder / RESULT_FILE))
        run_entry(model, "play", request, folder, timeout_seconds=_TIMEOUT_SECONDS)


PAYS_FROM_SECONDS = 1200.0
"""Simulation to come from which it pays: for the public nv_small the build costs about 500 seconds of processor, and
then saves about half of the time."""


class Optimiser:
    """Looks at what is played, and starts the build once what is left is long enough.

    Attributes:
        refusal: Why the model could not be built, once that is known; the run goes on with the quick one.
    """

    def __init__(self, dut: Dut | None, root: Path, pays_from_seconds: float = PAYS_FROM_SECONDS) -> None:
        """Begin without a build, which is never started for no device, and else when so much simulation is to come."""
        self.refusal: str | None = None
        self._dut, self._root, self._pays_from_seconds = dut, root, pays_from_seconds
        self._ended, self._seconds = 0, 0.0
        self._over = Event()
        self._thread: Thread | None = None

    def close(self) -> None:
        """End a build that is not ready: nobody plays on it any more."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(KILL_GRACE_SECONDS)

    @property
    def started(self) -> bool:
        """Whether the build was begun."""
        return self._thread is not None

    def ended(self, seconds: float, left: int) -> None:
        """Count a test that took so many seconds, and start the build when the tests that are left are worth it."""
        self._ended += 1
        self._seconds += seconds
        if self._dut is None or self.started or self._seconds / self._ended * left < self._pays_from_seconds:
            return
        self._thread = Thread(target=self._build, args=(self._dut,), name="optimised build", daemon=True)
        self._thread.start()

    def say(self, text: str) -> None:
        """Take a line of the build, which nobody wants to read between those of tests."""

    def progress(self, text: str) -> None:
        """Take how far the build is, and end it when the run is over.

        Raises:
            RunIsOverError: then.
        """
        if self._over.is_set():
            raise RunIsOverError(text)

    def _build(self, dut: Dut) -> None:
        try:
            optimised(dut, self._root, self)
        except LaunchError as error:
            self.refusal = str(error)
        except (RunIsOverError, InterruptedRunError):
            pass


class RunIsOverError(Exception):
    """A build that nobody waits for any more."""
