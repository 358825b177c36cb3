"""The subcommands by name: what each is for, and the module that carries it out."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Protocol, cast

from nvdla_tb.added import with_added

GROUP = "nvdla_tb.commands"
"""The group of entry points by which other packages add subcommands: each names a dictionary like ``COMMANDS``."""


class CommandModule(Protocol):
    """The module of a subcommand."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""

    def main(self, args: Namespace) -> int:
        """Carry the subcommand out and return the exit code."""


@dataclass(frozen=True)
class Command:
    """A subcommand.

    Example::

        COMMANDS = {"lint": Command("my_package.lint", "check names of ports", "nvdla-tb lint my_filelist.f")}

    Args:
        module: Name of its module, which is imported when the command is chosen.
        help: One line on what it does.
        example: A command line that it takes.
    """

    module: str
    help: str
    example: str

    def load(self) -> CommandModule:
        """Import the module of the subcommand."""
        return cast(CommandModule, import_module(self.module))


COMMANDS = {
    "init": Command(
        "nvdla_tb.cli.init",
        "write a project file, which every command finds from any folder below",
        "nvdla-tb init --rtl rtl/my_filelist.f",
    ),
    "run": Command(
        "nvdla_tb.cli.run",
        "play a plan of scenarios and judge every byte",
        "nvdla-tb run --only 'pdp_*' --seed 7 --sim icarus",
    ),
    "regress": Command(
        "nvdla_tb.cli.regress",
        "play many scenarios on a cluster, store every result, resume interrupted runs",
        "nvdla-tb regress random --seeds 200 --only SDP,PDP",
    ),
    "cluster": Command(
        "nvdla_tb.cli.cluster",
        "start a scheduler and workers for regressions, or workers that join a scheduler",
        "nvdla-tb cluster --jobs 8",
    ),
    "schema": Command(
        "nvdla_tb.cli.schema",
        "print the JSON schema of plans, project files, port maps or test plans, for editors",
        "nvdla-tb schema plan",
    ),
    "plan": Command(
        "nvdla_tb.cli.plan",
        "print the test plan with the latest result and the coverage of each feature",
        "nvdla-tb plan --level L1",
    ),
    "coverage": Command(
        "nvdla_tb.cli.coverage",
        "functional coverage of regressions, merged over runs, with holes and exclusions",
        "nvdla-tb coverage 3 4 --html coverage.html",
    ),
    "trace": Command(
        "nvdla_tb.cli.trace",
        "play traces of the public format and judge every byte and CRC",
        "nvdla-tb trace traces/sdp_* --rtl my_filelist.f",
    ),
    "drive": Command(
        "nvdla_tb.cli.drive",
        "run a driver in C or C++ and judge every layer that it starts",
        "nvdla-tb drive driver.so --rtl my_filelist.f",
    ),
    "replay": Command(
        "nvdla_tb.cli.replay",
        "replay a failure bundle and report whether it reproduces",
        "nvdla-tb replay sim_build/regress/0007/random.12.nv_small.verilator --waves",
    ),
    "explain": Command(
        "nvdla_tb.cli.explain",
        "explain where, when and why a failed run or a memory dump is wrong",
        "nvdla-tb explain sim_build/runs/nv_small/sdp_x1_bias_per_channel.1",
    ),
    "compare": Command(
        "nvdla_tb.cli.compare",
        "say what newly fails, newly passes or takes more cycles in a run than in an earlier one",
        "nvdla-tb compare 6 7",
    ),
    "flaky": Command(
        "nvdla_tb.cli.flaky",
        "list tests that passed and failed with the same seed on the same model",
        "nvdla-tb flaky --results sim_build/regress",
    ),
    "bisect": Command(
        "nvdla_tb.cli.bisect",
        "find the commit of your RTL that broke a test",
        "nvdla-tb bisect v1.2 HEAD --only 'sdp_x1_*' --rtl rtl/my_filelist.f",
    ),
    "cache": Command(
        "nvdla_tb.cli.cache",
        "list the built models, and remove those that are not needed",
        "nvdla-tb cache --clean 30",
    ),
    "configs": Command(
        "nvdla_tb.cli.configs",
        "list the built-in configurations and their differences",
        "nvdla-tb configs nv_medium_512",
    ),
    "configrom": Command(
        "nvdla_tb.cli.configrom",
        "read the ConfigROM over CSB and compare it with the configuration",
        "nvdla-tb configrom --rtl my_filelist.f",
    ),
    "pack": Command(
        "nvdla_tb.cli.layout_pack",
        "turn a tensor (.npy) or an image (.png) into a memory file (.bin, .dat)",
        "nvdla-tb pack cube.npy cube.dat --format feature --precision int8 --shape 33,4,5 --line-stride 64",
    ),
    "unpack": Command(
        "nvdla_tb.cli.layout_unpack",
        "turn a memory file (.bin, .dat) into a tensor (.npy) or an image (.png)",
        "nvdla-tb unpack cube.dat cube.npy --format feature --precision int8 --shape 33,4,5 --line-stride 64",
    ),
    "offset": Command(
        "nvdla_tb.cli.layout_offset",
        "print the address of an element, or the element at an address",
        "nvdla-tb offset --format feature --precision int8 --shape 33,4,5 --base 0x80000000 --element 17,2,3",
    ),
    "describe": Command(
        "nvdla_tb.cli.layout_describe",
        "print atoms, strides, groups and bytes of a layout",
        "nvdla-tb describe --format weight --config nv_full --precision fp16 --shape 24,40,3,3",
    ),
    "lut": Command(
        "nvdla_tb.cli.lut",
        "make, draw and check the lookup tables of a function",
        "nvdla-tb lut sigmoid --range -8 8 --config nv_large",
    ),
}
"""Those of the bench itself."""


def completion() -> ModuleType:
    """Import what answers shells, of which nothing else has need."""
    return import_module("nvdla_tb.cli.completion")


def all_commands() -> dict[str, Command]:
    """Return the subcommands of the bench, then those that installed packages add.

    Raises:
        InputError: for a name that is given twice.
    """
    return with_added(COMMANDS, GROUP, "subcommands", Command)
