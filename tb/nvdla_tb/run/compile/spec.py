"""The order for a model, and the built model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nvdla_tb.run.choices import BACKENDS
from nvdla_tb.run.errors import LaunchError
from nvdla_tb.run.simulators import DEFAULT_SIMULATOR, SIMULATORS, Simulator
from nvdla_tb.run.system import AnyConfig

CODE_COVERAGE = {
    "line": ("--coverage-line",),
    "toggle": ("--coverage-toggle",),
    "both": ("--coverage-line", "--coverage-toggle"),
}
"""Kinds of code coverage that Verilator counts, with its options."""

COVERAGE_FILE = "coverage.dat"
"""The file that a simulation of a counting model leaves in its folder."""


@dataclass(frozen=True)
class BuildSpec:
    """The order for a model.

    Attributes:
        config: Configuration whose ports the RTL must have.
        simulator: Of ``SIMULATORS``.
        backend: ``coroutine``, whose agents are Python, or ``native``, compiled into the model.
        top: The RTL's top module.
        filelist: The user's filelist, or None for the embedded DUT.
        port_map: The user's TOML of port differences, or None.
        debug: Whether signals below the top are visible to the test (slower to build and run).
        waves: Whether the model can write waves.
        coverage: What a run counts of the RTL's code: ``line``, ``toggle``, ``both``, or None.
        optimised: Whether the model is compiled for this processor, by a profile of what it played in training.

    Raises:
        LaunchError: for an unknown simulator, back end or coverage, and for what the simulator cannot have.
    """

    config: AnyConfig
    simulator: str = DEFAULT_SIMULATOR
    top: str = "NV_nvdla"
    filelist: Path | None = None
    port_map: Path | None = None
    debug: bool = False
    waves: bool = False
    backend: str = "coroutine"
    coverage: str | None = None
    optimised: bool = False

    def __post_init__(self) -> None:
        if self.simulator not in SIMULATORS:
            raise LaunchError(f"simulator must be one of {', '.join(SIMULATORS)}, not {self.simulator}")
        if self.backend not in BACKENDS:
            raise LaunchError(f"backend must be one of {', '.join(BACKENDS)}, not {self.backend}")
        if self.native and not self.tool.native:
            raise LaunchError(f"backend must be coroutine with {self.simulator}, not native: only Verilator builds it")
        if self.coverage is not None and self.coverage not in CODE_COVERAGE:
            raise LaunchError(f"coverage must be one of {', '.join(CODE_COVERAGE)}, not {self.coverage}")
        if self.coverage is not None and not self.tool.counts_code:
            raise LaunchError(f"coverage must be None with {self.simulator}, not {self.coverage}: Verilator counts it")
        if self.optimised and not self.tool.optimises:
            raise LaunchError(f"an optimised model must be built by verilator, not {self.simulator}")

    @property
    def tool(self) -> Simulator:
        """What the simulator can."""
        return SIMULATORS[self.simulator]

    @property
    def native(self) -> bool:
        """Whether the agents are compiled into the model."""
        return self.backend == "native"

    @property
    def counting(self) -> tuple[str, ...]:
        """Options of Verilator for what a run counts."""
        return () if self.coverage is None else CODE_COVERAGE[self.coverage]


@dataclass(frozen=True)
class Built:
    """A compiled model, ready for any number of simulations at once.

    Attributes:
        spec: Order for the model.
        directory: The build folder.
        wave_suffix: ``fst`` or ``vcd`` for a model that can write waves, else None.
        seconds: Time this call took.
        cached: Whether the model was there already.
    """

    spec: BuildSpec
    directory: Path
    wave_suffix: str | None
    seconds: float
    cached: bool
