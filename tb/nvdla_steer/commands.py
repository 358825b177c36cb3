"""What this package adds to ``nvdla-tb``."""

from __future__ import annotations

from nvdla_tb.cli.commands import Command

COMMANDS = {
    "steer": Command(
        "nvdla_steer.command",
        "play random scenarios that are mutated towards unreached code of the RTL, and keep a corpus of the best",
        "nvdla-tb steer --hours 1 --rtl my_filelist.f",
    ),
}
