"""``configrom``: read the DUT's ConfigROM and compare it with the configuration."""

from __future__ import annotations

import argparse

from nvdla_models.config import HwConfig
from nvdla_tb.cli.dut import build_dut, dut_of
from nvdla_tb.cli.dut_options import BUILD_ROOT, add_dut_options
from nvdla_tb.nvdla.configrom import differences, encode, parse
from nvdla_tb.plain_data import decoded
from nvdla_tb.run import folders
from nvdla_tb.run.answers import RESULT_FILE
from nvdla_tb.run.errors import LaunchError
from nvdla_tb.run.jobs import run_entry
from nvdla_tb.stimulus.exchange import Request


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    add_dut_options(parser)


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out: 0 when DUT and configuration agree, else 1."""
    config = HwConfig.load(args.config)
    encode(config)  # refuses a configuration without a ConfigROM before anything is built
    built = build_dut(args, config)
    work_dir = folders.emptied(BUILD_ROOT, "runs", "configrom")
    path = (work_dir / RESULT_FILE).resolve()
    run = run_entry(built, "configrom", Request(dut_of(args).config, result=str(path)), work_dir, timeout_seconds=600)
    if not run.passed:
        raise LaunchError(f"{run.message}; log: {run.log_path}")
    rom = parse(decoded(path.read_bytes(), list[int]))
    for descriptor in rom.descriptors:
        print(f"{descriptor.offset:#06x}  {descriptor.unit}")
        for word in descriptor.payload:
            bits = f"  {' '.join(word.bits)}" if word.bits else ""
            print(f"{word.offset:#06x}    {word.name} = {word.value:#x}{bits}")
    found = differences(rom, config)
    print(
        "\n".join(f"differs: {difference}" for difference in found)
        or f"the ConfigROM is that of {config.configrom or config.name}"
    )
    return 1 if found else 0
