"""``flaky``: tests that passed and failed with the same seed on the same model."""

from __future__ import annotations

import argparse

from nvdla_models.reading import shown
from nvdla_tb.cli.dut import existing_store
from nvdla_tb.cli.dut_options import add_results_option
from nvdla_tb.counting import counted
from nvdla_tb.run.regress.flaky import flaky


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    add_results_option(parser)


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code: 1 when there is one."""
    with existing_store(args.results) as store:
        found = flaky(store)
    for test in found.flaky:
        print(shown(test.key))
        for ending, runs in test.runs.items():
            print(f"  {ending.value}: run {', '.join(map(str, runs))}")
        print(f"  rerun: {shown(test.rerun)}")
    tests = counted(found.tests, "test that was", "tests that were")
    print(f"{len(found.flaky)} flaky of {tests} played twice or more with the same seed, content and arguments")
    if found.apart:
        apart = counted(found.apart, "test was", "tests were")
        print(f"{apart} played with different arguments, which says nothing: a level chooses the initial state by some")
    return int(bool(found.flaky))
