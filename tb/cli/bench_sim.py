"""``bench sim``: cycles per second of the bench against the same model with idle inputs."""

from __future__ import annotations

import argparse
import shutil
import statistics
from pathlib import Path

from models.config import HwConfig
from tb.cli.common import BUILD_ROOT, add_dut_options, build_dut
from tb.cli.run import PLAN_DIR, select
from tb.generate.plan import load_plan
from tb.launch.build import Built
from tb.launch.errors import LaunchError
from tb.regress.jobs import run_entry
from tb.trace import write

HELP = "cycles per second of the bench against the same model with idle inputs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this kind."""
    parser.add_argument("--plan", type=Path, default=PLAN_DIR / "bench.toml", metavar="TOML", help="scenarios to time")
    parser.add_argument("--only", metavar="PATTERN", help="scenarios whose name matches")
    parser.add_argument(
        "--rounds", type=int, default=5, metavar="N", help="alternations; medians are shown (default: 5)"
    )
    add_dut_options(parser)


def main(args: argparse.Namespace) -> int:
    """Measure, print a table and return the exit code."""
    config = HwConfig.load(args.config)
    built = build_dut(args, config)
    root = BUILD_ROOT / "runs" / "bench"
    print(f"{'scenario':30} {'cycles':>9} {'bench c/s':>10} {'idle c/s':>10} {'ratio':>6}")
    for entry in select(load_plan(args.plan), args.only):
        work_dir = root / entry.name
        if work_dir.exists():
            shutil.rmtree(work_dir)
        scenario_dir = work_dir / "scenario"
        scenario_dir.mkdir(parents=True, exist_ok=True)
        write(entry.build(config, seed=1), scenario_dir)
        bench_speeds, idle_speeds, cycles = [], [], 0
        for _ in range(args.rounds):
            played = _measure(built, "play", args.config, work_dir, NVDLA_SCENARIO=str(scenario_dir.resolve()))
            cycles = int(played["cycles"])
            bench_speeds.append(played["cycles_per_second"])
            idle = _measure(built, "idle", args.config, work_dir, NVDLA_CYCLES=str(cycles))
            idle_speeds.append(idle["cycles_per_second"])
        bench, idle_speed = statistics.median(bench_speeds), statistics.median(idle_speeds)
        print(f"{entry.name:30} {cycles:9} {bench:10.0f} {idle_speed:10.0f} {bench / idle_speed:6.3f}", flush=True)
    return 0


def _measure(built: Built, test: str, config_name: str, work_dir: Path, **variables: str) -> dict[str, float]:
    """Run one entry test that must pass, and return what it measured."""
    run, saved = run_entry(built, test, config_name, work_dir, timeout_seconds=3600, variables=variables)
    if not run.passed or saved is None:
        raise LaunchError(f"{run.message}; log: {run.log_path}")
    return saved
