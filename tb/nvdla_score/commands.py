"""What this package adds to ``nvdla-tb``."""

from __future__ import annotations

from nvdla_tb.cli.commands import Command

COMMANDS = {
    "score": Command(
        "nvdla_score.command",
        "play seeded bugs and report which are caught, by which check, how early, and with which cause",
        "nvdla-tb score --only 'sdp_*'",
    ),
    "unreachable": Command(
        "nvdla_score.unreachable_command",
        "find bits of the RTL that are tied, or that no output depends on: exclusions of toggle coverage",
        "nvdla-tb unreachable --rtl my_filelist.f --output unreachable.toml",
    ),
    "bench": Command(
        "nvdla_score.bench.command",
        "measure speed against a reference of the same run",
        "nvdla-tb bench layout --rounds 7",
    ),
}
