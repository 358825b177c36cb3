"""Models that are compiled by profile: what they play in training, and which model a device is played on."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from models.config import HwConfig
from models.errors import InputError
from tb.run import cache
from tb.run.compile.build import SILENT, Teller, build
from tb.run.compile.recipe import PROFILE, Recipe, recipe_of
from tb.run.compile.spec import Built
from tb.run.dut import Dut
from tb.run.jobs import RESULT_FILE, run_entry
from tb.stimulus.exchange import Request
from tb.stimulus.generate.plan import load_plan
from tb.stimulus.trace import write

QUICK, OPTIMISED = BUILDS = ("quick", "optimised")
"""How a model can be compiled: for one look, or for long play."""

_TIMEOUT_SECONDS = 600.0
_FOLDER = "training"


def optimised(dut: Dut, root: Path, teller: Teller = SILENT) -> Built:
    """Return the optimised model of a device, building it when its content is new.

    Args:
        dut: The device; its simulator must be Verilator.
        root: Folder that holds all builds.
        teller: Who hears of the steps of a build that takes a while.

    Raises:
        LaunchError: when it cannot be built.
    """
    spec = replace(dut.build_spec(waves=False), optimised=True)
    return build(spec, root, teller, partial(_train, config=dut.config))


class Model:
    """The compiled model of a device: by default the quick one, until the optimised one is there.

    Both give the same verdicts in the same cycles.
    """

    def __init__(self, dut: Dut, root: Path, build: str | None = None, teller: Teller = SILENT) -> None:
        """Remember what to play on; nothing is built before ``current`` is called.

        Args:
            dut: The device.
            root: Folder that holds all builds.
            build: One of ``BUILDS``, or None for the default.
            teller: Who hears of the steps of a build that takes a while.
        """
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
            quick = partial(build, self._dut.build_spec(waves=False), self._root, self._teller)
            self._built = self._ready() or self._built or quick()
        return self._built

    def _ready(self) -> Built | None:
        """Return the optimised model if it may be taken and is there."""
        if self._build is not None or self._dut.simulator != "verilator":
            return None
        if self._recipe is None:
            # Once: this reads all of the RTL.
            self._recipe = recipe_of(replace(self._dut.build_spec(waves=False), optimised=True), self._root)
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
        write(scenario, folder / "scenario")
        request = Request(config, scenario=str(folder / "scenario"), result=str(folder / RESULT_FILE))
        run_entry(model, "play", request, folder, timeout_seconds=_TIMEOUT_SECONDS)
