"""``init``: make a folder a project, with a project file that explains itself."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.reading import read_text
from nvdla_tb.cli.dut_options import DEFAULT_CONFIG, DEFAULT_TOP
from nvdla_tb.paths import COMMAND, PACKAGE, PROJECT_FILE
from nvdla_tb.run.project import TEMPLATE
from nvdla_tb.run.space import write_whole

_COMMENT_COLUMN = 32
WORKFLOWS = {"github": ".github/workflows/nvdla-tb.yml", "gitlab": ".gitlab-ci.yml"}
"""Files of workflows, by service."""

_SOURCE = "NVDLA_TB"
"""The variable of workflows that the user sets."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument("--rtl", type=Path, metavar="FILELIST", help="filelist of your RTL (default: the embedded DUT)")
    parser.add_argument("--top", metavar="MODULE", help=f"top module (default: {DEFAULT_TOP})")
    parser.add_argument(
        "--ci",
        choices=WORKFLOWS,
        help="instead write a workflow that plays plans, tests and L0 on every push, L1 at night, and shows results",
    )
    parser.add_argument("--config", metavar="NAME|FILE", help=f"configuration (default: {DEFAULT_CONFIG})")


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code.

    Raises:
        InputError: when the file is there, or what it shall name is not.
    """
    if args.ci is not None:
        return _write_workflow(args)
    path = Path(PROJECT_FILE)
    if path.exists():
        raise InputError(_there(path))
    if args.rtl is not None and not args.rtl.is_file():
        raise InputError(f"--rtl must be a filelist that exists, not {args.rtl}")
    if args.config is not None:
        HwConfig.load(args.config)
    lines = {
        "rtl": _line("rtl", args.rtl, "my_filelist.f", "filelist of your RTL; without it the embedded DUT is played"),
        "top": _line("top", args.top, DEFAULT_TOP, "top module"),
        "config": _line("config", args.config, DEFAULT_CONFIG, "a configuration, or a TOML file with its parameters"),
    }
    write_whole(path, TEMPLATE.format(**lines))
    print(f"written: {PROJECT_FILE}\nnext: {COMMAND} run, then {COMMAND} regress plan --level L1, which is the gate")
    return 0


def _write_workflow(args: argparse.Namespace) -> int:
    """Write the workflow of a service.

    Raises:
        InputError: when its file is there, and for options of the project file.
    """
    for option in ("rtl", "top", "config"):
        if getattr(args, option) is not None:
            raise InputError(f"--{option} must be left out with --ci: the workflow takes it from {PROJECT_FILE}")
    path = Path(WORKFLOWS[args.ci])
    if path.exists():
        raise InputError(_there(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, read_text(PACKAGE / "workflows" / f"{args.ci}.yml"))
    print(f"written: {path}\nedit there: {_SOURCE}, from which pip installs the testbench; it is on no package index")
    if not Path(PROJECT_FILE).is_file():
        print(f"next: {COMMAND} init --rtl FILELIST, without which the workflow plays on the embedded DUT")
    return 0


def _there(path: Path) -> str:
    return f"{path} is there already: edit it, or remove it and repeat the command"


def _line(key: str, value: object, default: str, about: str) -> str:
    """Return the line of a key; a comment when it is left as it is built in."""
    text = f"{'# ' if value is None else ''}{key} = {json.dumps(str(default if value is None else value))}"
    return f"{text:{_COMMENT_COLUMN}}# {about}"
