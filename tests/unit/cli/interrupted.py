"""A command in the middle of simulations that take a minute each, for a test that interrupts it: ``FOLDER KIND``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, NoReturn

from nvdla_models.config import HwConfig
from nvdla_score import command as score
from nvdla_score import play
from nvdla_tb.cli import run_play
from nvdla_tb.cli.main import script
from nvdla_tb.run import jobs
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.process import supervise


def minute(_: Built, *, work_dir: Path, **__: Any) -> NoReturn:
    """Run in the place of a simulation what says its process id and then does nothing."""
    supervise(
        ["sh", "-c", "echo $$ > pid; exec sleep 60"],
        cwd=work_dir,
        environment=os.environ,
        log_path=work_dir / "sim.log",
    )
    raise InterruptedError("the simulation was ended")


if __name__ == "__main__":
    folder, kind = Path(sys.argv[1]), sys.argv[2]
    os.chdir(folder)
    built = Built(BuildSpec(HwConfig.load("nv_small")), folder, None, 0.0, cached=True)
    for module in (run_play, score):
        module.build_dut = lambda *_, **__: built
    jobs.simulate = minute  # type: ignore[assignment]
    play.SharedProcess.takes = lambda *_: False  # type: ignore[method-assign]
    sys.argv[1:] = [kind, "--jobs", "2", "--only", "sdp_*"]
    sys.exit(script())
