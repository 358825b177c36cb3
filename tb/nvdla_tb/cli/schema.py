"""``schema``: JSON schemas of the files that users write, from the types that check them, for editors."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

from nvdla_tb.json_schema import schema_of
from nvdla_tb.run.compile.ports import PortMapFile
from nvdla_tb.run.project import ProjectFile
from nvdla_tb.run.regress.features import FeaturesFile
from nvdla_tb.run.systems import system_of
from nvdla_tb.stimulus.generate.plan_schema import plan_schema

FILES: dict[str, Callable[[str], dict[str, Any]]] = {
    "plan": lambda config: plan_schema(*system_of(config).plan_types),
    "project": lambda config: schema_of(ProjectFile),
    "ports": lambda config: schema_of(PortMapFile),
    "features": lambda config: schema_of(FeaturesFile),
}
"""Kinds of files, with their schemas."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument(
        "file", choices=FILES, help="plan, project file (nvdla-tb.toml), port map, or test plan (features.toml)"
    )
    parser.add_argument("--config", default="nv_small", metavar="NAME|FILE", help="whose plans (default: nv_small)")


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    print(json.dumps(FILES[args.file](args.config), indent=1))
    return 0
