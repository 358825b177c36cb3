"""Whether everything that waits for a synchronisation has something to wait for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tb.nvdla.program.ops import CheckCrc, CheckFile, CheckNothing, InterruptNotify, Op, SyncNotify, SyncWait


@dataclass(frozen=True)
class Complaint:
    """An operation that can never happen: its place in the program and what is wrong."""

    index: int
    message: str


def unraised(ops: Sequence[Op]) -> Complaint | None:
    """Find the first check or wait for a ``sync_id`` that nothing raises, wherever in the program."""
    raised = {op.sync_id for op in ops if isinstance(op, InterruptNotify | SyncNotify)}
    for index, op in enumerate(ops):
        if isinstance(op, SyncWait | CheckCrc | CheckFile | CheckNothing) and op.sync_id not in raised:
            known = ", ".join(sorted(raised)) or "none"
            return Complaint(index, f"nothing raises sync_id {op.sync_id}; raised: {known}")
    return None
