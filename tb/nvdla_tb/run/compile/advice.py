"""What to do about messages of tools that a first build of the public RTL meets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from nvdla_tb.run.errors import BuildError
from nvdla_tb.run.process import last_lines, last_relevant_lines

_PUBLIC = "the public RTL"

_ADVICE: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"\$RollPLI|\bfirst_stage_of_sync\b"),
        f"add +define+SYNTHESIS to the filelist: {_PUBLIC} then leaves out the aids of its own simulation, "
        "such as $RollPLI, which only the library of its bench has",
    ),
    (
        re.compile(r"[Mm]odule\W[^']*'?(?:NV_)?DW(?:02|_)\w+"),
        f"add +define+DESIGNWARE_NOEXIST to the filelist: {_PUBLIC} then has models of its own in DesignWare's place",
    ),
    (
        re.compile(r"[Mm]odule\W[^']*'?CKLNQD\w+"),
        f"add +define+VLIB_BYPASS_POWER_CG to the filelist: {_PUBLIC} then needs no cells of clock gates; "
        "or name its vmod/vlibs with -y",
    ),
    (
        re.compile(r"include file: '?(?:simulate_x_tick|NV_HWACC_NVDLA_tick_defines|NV_NVDLA_\w+|project)\b|`x_or_0"),
        f"add +incdir+ with vmod/include and vmod/vlibs of {_PUBLIC} to the filelist; "
        "what the public build generates lies below its outdir",
    ),
    (
        re.compile(r"[Mm]odule:? '?(?:NV_BLKBOX\w*|NV_CLK_gate\w*|p_S\w+|sync\w+|MUX2\w*|AN2\w*|OR2\w*|INV\w*)"),
        f"name vmod/vlibs of {_PUBLIC} in the filelist, with -y and +libext+.v or each file",
    ),
    (
        re.compile(r"[Mm]odule:? '?(?:nv_ram_\w+|RAM(?:DP|PDP)_\w+)"),
        f"name the RAMs of {_PUBLIC} in the filelist: vmod/rams/fpga/model has behavioural ones",
    ),
)


_RAW_LINES = 3
"""Messages that are shown where it is known what to do about them."""


def refused(what: str, log_path: Path) -> BuildError:
    """Return the error of a tool that refuses RTL: what to do about it where that is known, and the end of its log.

    Args:
        what: The first line of the message.
        log_path: All that the tool has said.
    """
    known = advice(last_lines(log_path))
    lines = last_relevant_lines(log_path)
    return BuildError(what, *known, *(lines[:_RAW_LINES] if known else lines), f"log: {log_path}", log_path=log_path)


def advice(lines: Iterable[str]) -> list[str]:
    """Return what to do about the messages of a tool, a line for each kind that is known."""
    text = "\n".join(lines)
    return [what for pattern, what in _ADVICE if pattern.search(text)]
