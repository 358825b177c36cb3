"""Whether the first cause of the explainer points at the module that a mutant is in."""

from __future__ import annotations

import re
from enum import Enum

from tb.tools.score.catch import Catch


class Judgement(Enum):
    """The worth of the first cause."""

    RIGHT = "right"
    SYMPTOM = "a symptom"
    WRONG = "wrong"
    NONE = "none"


_INPUT = r"cdma|mrdma|pdp_rdma|cdp_rdma|sdp_rdma"
_PLACES = (
    (r"dst-|lost-|strobe|write-order", r"wdma|write_|sdp_dp"),
    (r"src-|read-", rf"{_INPUT}|read_"),
    (r"operand-", r"[bne]rdma|sdp_rdma|read_"),
    (r"every-", rf"{_INPUT}|wdma"),
    (r"conv-(?:kernel|mask|group|winograd)", r"cdma_w|csc_w|csc_sg|cmac|cbuf"),
    (r"conv-(?:x-offset|pixel|mean|image)", r"cdma|csc_dl"),
    (r"conv-truncate", r"cacc"),
    (r"conv-|stale-buffer", r"cdma|cbuf|csc|cmac|cacc"),
    (r"rounding|saturation|sign$|converter-|stage-|y-|fp16-", r"sdp_(?:core|hls|c$|x|y|cmux|wrap)|cvt|hls|sdp_rdma_"),
    (r"pool-", r"pdp_core|pdp_cal|pdp_unit|pdp_pre"),
    (r"lut-", r"cdp_dp|hls_cdp|lut"),
    (r"move-", r"rubik|bdma"),
    (r"stale-register", r"."),
)
"""Beginnings of the names of causes, and parts of the names of modules that they point at."""

_REGISTERS = re.compile(r"_reg\b|_reg_|regfile|dual_reg|csb", re.IGNORECASE)


def judged(module: str, catch: Catch) -> Judgement:
    """Return the worth of the first cause.

    A register with a wrong value makes exactly the bytes of a wrong parameter: for a mutant in a register file
    the cause that names one is right. Of causes that cannot be told apart, one that is right is enough.

    Args:
        module: in which the mutant is.
        catch: how it was caught.
    """
    if catch.cause is None:
        return Judgement.NONE
    if catch.symptom:
        return Judgement.SYMPTOM
    names = [part for name in (catch.cause, *catch.equal) for part in name.split("+")]
    return Judgement.RIGHT if any(_points_at(name, module) for name in names) else Judgement.WRONG


def _points_at(cause: str, module: str) -> bool:
    places = next((places for names, places in _PLACES if re.match(names, cause)), None)
    if places is None:
        return False
    if cause == "stale-register":
        return _REGISTERS.search(module) is not None
    return _REGISTERS.search(module) is not None or re.search(places, module, re.IGNORECASE) is not None
