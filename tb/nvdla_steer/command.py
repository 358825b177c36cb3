"""``steer``: random scenarios, mutated towards code of the RTL that none has reached."""

from __future__ import annotations

import argparse
from pathlib import Path

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_steer.candidates import Candidates
from nvdla_steer.corpus import Corpus
from nvdla_steer.points import points_of
from nvdla_steer.steering import Steering
from nvdla_tb.cli import numbers
from nvdla_tb.cli.dut import STORE, build_dut, dut_of
from nvdla_tb.cli.dut_options import BUILD_ROOT, add_dut_options, add_results_option
from nvdla_tb.cli.playing import alone_in
from nvdla_tb.cli.regress_tasks import counting_dut
from nvdla_tb.cli.run_options import cycles_options, scenario_options, waves_option
from nvdla_tb.paths import COMMAND
from nvdla_tb.run import folders
from nvdla_tb.run.compile.spec import CODE_COVERAGE
from nvdla_tb.run.regress.store import Store
from nvdla_tb.run.systems import is_nvdla

_LONGEST_HOURS = 10_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument(
        "--hours", type=numbers.number(0, _LONGEST_HOURS), default=1.0, metavar="N", help="time to play (default: 1)"
    )
    parser.add_argument("--cycles", type=numbers.ordinal, metavar="N", help="stop after so many simulated cycles")
    parser.add_argument(
        "--corpus", type=Path, default=BUILD_ROOT / "steer", metavar="DIR", help="folder of the corpus, which lasts"
    )
    parser.add_argument("--seed", type=numbers.seed, default=0, metavar="N", help="seed of all choices (default: 0)")
    parser.add_argument("--uniform", action="store_true", help="draw as regress random does, to compare with")
    parser.add_argument(
        "--code-coverage",
        choices=CODE_COVERAGE,
        default="line",
        help="what is to be reached: lines and branches, toggles, or both (default: line; toggles play much slower)",
    )
    add_dut_options(parser)
    group = scenario_options(parser)
    waves_option(group, "play failures again for their waves", default=True)
    add_results_option(parser)
    cycles_options(group)
    parser.set_defaults(code_exclusions=())


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    if not is_nvdla(args.config):
        raise InputError(f"--config must be one of NVDLA, whose plans {COMMAND} steer writes, not {args.config}")
    config = HwConfig.load(args.config)
    if dut_of(args).backend != "native":
        raise InputError("--backend must be native: code is counted for each scenario in the model itself")
    folders.made(BUILD_ROOT)
    with alone_in(folders.made(args.corpus)), Store(args.results / STORE) as store:
        built = build_dut(args, config, coverage=args.code_coverage)
        dut = counting_dut(args)
        points = points_of(built, dut.config, folders.made(args.corpus, "points"))
        corpus = Corpus(args.corpus, config.name, built.directory.name, len(points.kinds))
        candidates = Candidates(config, corpus, args.seed, uniform=args.uniform)
        return Steering(args, store, dut, points, corpus, candidates).play()
