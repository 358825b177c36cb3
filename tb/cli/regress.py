"""``regress``: play many scenarios drawn from seeds."""

from __future__ import annotations

import argparse

from models.config import HwConfig
from tb.cli.common import add_dut_options, add_run_options, build_dut, dut_arguments, play_and_report
from tb.generate.random import ENGINES, random_entry
from tb.regress.jobs import Job
from tb.scenario import Scenario

HELP = "play many random scenarios"
EXAMPLE = "python -m tb regress random --seeds 200 --engines SDP,PDP"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    drawn = kinds.add_parser("random", help="layers of all units, sizes and modes, one scenario per seed")
    drawn.add_argument("--seeds", type=int, default=100, metavar="N", help="number of scenarios (default: 100)")
    drawn.add_argument("--first", type=int, default=0, metavar="SEED", help="first seed (default: 0)")
    drawn.add_argument(
        "--engines", default=",".join(ENGINES), metavar="LIST", help=f"of {','.join(ENGINES)} (default: all)"
    )
    add_dut_options(drawn)
    add_run_options(drawn)


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    config = HwConfig.load(args.config)
    engines = tuple(args.engines.split(","))
    for engine in engines:
        if engine not in ENGINES:
            raise ValueError(f"engines must be of {', '.join(ENGINES)}, not {engine}")
    if args.seeds < 1 or args.first < 0:
        raise ValueError(f"seeds must be at least 1 and first at least 0, not {args.seeds} and {args.first}")
    built = build_dut(args, config, waves=args.waves)
    options = f"--engines {args.engines} {dut_arguments(args)}"

    def job(seed: int) -> Job:
        def make() -> Scenario:
            return random_entry(config, seed, engines).build(config, seed)

        return Job("random", seed, f"python -m tb regress random --seeds 1 --first {seed} {options}", make)

    return play_and_report(args, [job(args.first + n) for n in range(args.seeds)], built, "random")
