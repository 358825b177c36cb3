"""What this package adds to ``nvdla-tb``."""

from __future__ import annotations

from nvdla_tb.cli.commands import Command

COMMANDS = {
    "network": Command(
        "nvdla_networks.command",
        "play a network and judge every byte of every layer",
        "nvdla-tb network lenet.nvdla --image seven.pgm --rtl my_filelist.f",
    ),
}
