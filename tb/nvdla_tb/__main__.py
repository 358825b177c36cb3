"""``nvdla-tb SUBCOMMAND``. Processes that it spawns import this module by another name, and load no subcommands."""

import sys

if __name__ == "__main__":
    from nvdla_tb.cli.main import script

    sys.exit(script())
