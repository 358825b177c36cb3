"""The order in which the operations of a program are played, which need not be that of the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from tb.program.ops import Op, SyncWait, target_of


def in_play_order(ops: Iterable[Op], raised: Set[str]) -> Iterator[Op]:
    """Yield operations as they are played: a wait holds back those of its own unit, and no others.

    Whoever takes an operation adds to ``raised`` what it raises before taking the next. The iteration ends
    when all that is left waits for what was not raised.

    Args:
        ops: The operations in file order.
        raised: Sync ids raised so far.

    Source: the public traces, ``sync_wait``.
    """
    rest, left = list(ops), -1
    while len(rest) != left:
        left, passed = len(rest), rest
        rest = []
        blocked: set[str] = set()
        for op in passed:
            if target_of(op) in blocked:
                rest.append(op)
            elif isinstance(op, SyncWait) and op.sync_id not in raised:
                blocked.add(op.target)
                rest.append(op)
            else:
                yield op
