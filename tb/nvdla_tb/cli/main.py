"""The command line: all subcommands, and how a command ends."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys

INTERRUPTED, TERMINATED = 130, 143
"""The exit codes of a command that the user interrupts, and of one that is ended by the signal TERM, as CI and batch
systems do it: 128 and the number of the signal, as shells have them."""

# Before numpy is imported. The model's products are small: a second thread would wait for the next one in a busy loop.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

try:
    from nvdla_models.errors import InputError
    from nvdla_models.reading import shown
    from nvdla_tb.added import leave_out
    from nvdla_tb.cli.commands import COMMANDS, all_commands, completion
    from nvdla_tb.cli.parsing import Parser
    from nvdla_tb.cli.shown import COMPLETION, Completion, Version
    from nvdla_tb.cli.terminal import printable_output
    from nvdla_tb.paths import COMMAND
    from nvdla_tb.run.process import stop
    from nvdla_tb.run.space import ENVIRONMENT, in_words
except KeyboardInterrupt:
    # On a busy machine these take long enough for an impatient user.
    print("interrupted", file=sys.stderr)
    raise SystemExit(INTERRUPTED) from None

UNREAD = 141
"""The exit code of a command whose output nobody reads any more: 128 and the number of SIGPIPE."""


def parser(chosen: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of all subcommands.

    Args:
        chosen: The only subcommand whose module is imported and whose options are declared; None for all.
    """
    commands = all_commands()
    width = max(map(len, commands))
    examples = "\n".join(f"  {name:{width}}  {command.example}" for name, command in commands.items())
    top = Parser(
        prog=COMMAND,
        description="Testbench for NVDLA-class accelerators: every byte that the RTL writes is predicted and judged.",
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action=Version, help="print versions of what runs and exit")
    about = "print a script with which a shell completes commands, and exit"
    top.add_argument(COMPLETION, action=Completion, metavar="SHELL", help=about)
    # What a report is of; ``main`` knows it.
    top.set_defaults(command_line=COMMAND)
    subcommands = top.add_subparsers(dest="command", required=True, metavar="SUBCOMMAND")
    for name, command in commands.items():
        about = command.help.replace("%", "%%")
        sub = subcommands.add_parser(
            name, help=about, description=f"{command.help}.", epilog=f"example: {command.example}"
        )
        if chosen in (None, name):
            try:
                module = command.load()
                module.add_arguments(sub)
                sub.set_defaults(main=module.main)
            except (InputError, ModuleNotFoundError):
                raise
            except (Exception, SystemExit) as error:
                if name in COMMANDS:
                    raise
                # Whatever a module of somebody else raises.
                what, why = f"subcommand {name} ({command.module})", f"{type(error).__name__}: {error}"
                if chosen == name:
                    raise InputError(f"{what} cannot be used: {shown(why)}") from error
                leave_out(what, why)
    return top


def main(arguments: list[str] | None = None) -> int:
    """Run one subcommand.

    What the user got wrong, and what the machine cannot do, is one message and exit code 2; an interrupt ends all
    simulations, and so does the signal TERM. Whatever it prints, a terminal can show.
    """
    with printable_output():
        try:
            return _main(sys.argv[1:] if arguments is None else arguments)
        finally:
            # Python would drop the error of a stream that is flushed when it goes.
            sys.stdout.flush()


def _main(words: list[str]) -> int:
    try:
        for word in words:
            # A terminal and a report must be able to show it.
            if not word.isprintable():
                raise InputError(f"an argument must be printable text, not {word!r}")
        if "_ARGCOMPLETE" in os.environ:
            # A shell asks, which is the only time that needs argcomplete.
            asked = completion()
            asked.complete(parser(asked.chosen()))
        if not words:
            parser("").print_help(sys.stderr)
            return 2
        args = parser(words[0]).parse_args(words)
        args.command_line = f"{COMMAND} {shlex.join(words)}"
        code = _carried_out(args)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("nvdla_tb"):
            raise
        print(f"error: {error.name} is missing: pip install it; in a checkout, `make` does", file=sys.stderr)
        return 2
    except OSError as error:
        if error.errno not in ENVIRONMENT:
            raise
        print(f"error: {in_words(error)}", file=sys.stderr)
        return 2
    except Terminated:
        stop()
        print("terminated", file=sys.stderr)
        return TERMINATED
    except KeyboardInterrupt:
        stop()
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return code


class Terminated(KeyboardInterrupt):
    """The signal TERM: whatever an interrupt leaves and says, this does, too."""


def _terminate(*_: object) -> None:
    raise Terminated


def _carried_out(args: argparse.Namespace) -> int:
    """Return the exit code of the subcommand: a module that it loads may exit instead, with 0."""
    try:
        code: int = args.main(args)
    except SystemExit as error:
        raise InputError(
            f"{args.command_line} was ended by a module that it loads: SystemExit: {error.code}"
        ) from error
    return code


def script() -> int:
    """Run the subcommand that the command line names, and return the exit code."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        try:
            status = main()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Such as head, which has seen enough: what is left in the buffer goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD
    if status in (INTERRUPTED, TERMINATED):
        # One is enough: what is left to do takes no time.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return status
