"""Where lines and weights of convolutions end in their banks of the convolution buffer, which they use as rings."""

from __future__ import annotations

from nvdla_models.cbuf import bank_entries
from nvdla_tb.coverage.attributes.values import Attributes
from nvdla_tb.nvdla.layers import ConvLayer
from nvdla_tb.nvdla.program.conv_buffer import Fetch

_SHARES = ("quarter", "half", "most", "almost_all")
_BESIDE = {-1: "one_before", 0: "at_end", 1: "one_after"}


class Rings:
    """Follows the places in the banks at which CDMA puts lines and weights, from one convolution to the next.

    ::

        rings = Rings()
        rings.begin(layer, fetch)["data_end"]      # "one_before"
    """

    def __init__(self) -> None:
        """Start with empty banks, as after a reset."""
        self._banks = (0, 0)
        self._data = 0
        self._weights = 0

    def begin(self, layer: ConvLayer, fetch: Fetch, cubes: int = 1) -> Attributes:
        """Follow a convolution.

        Args:
            layer: The convolution, or the first one of a batch.
            fetch: What CDMA fetches for it.
            cubes: How many cubes the batch has.

        Returns:
            The share of the banks that data have, and whether the last entry of what is fetched lies before the end of
            its banks, one entry beside it, or after it; None for what is not fetched.

        Source: programming guide, "Convolution" and "Limitation", Convolution.
        """
        config, banks = layer.dst.layout.config, (layer.cbuf.data_banks, layer.cbuf.weight_banks)
        if banks != self._banks:
            self._weights = 0
        if banks[0] != self._banks[0]:
            self._data = 0
        self._banks = banks
        rooms = [bank_entries(config, count) for count in banks]
        data_end = self._data + cubes * layer.entries * layer.src.layout.shape[1] if fetch.data else None
        weight_end = self._weights + layer.weights.stored_entries if fetch.weights else None
        self._data = self._data if data_end is None else data_end % rooms[0]
        self._weights = self._weights if weight_end is None else weight_end % rooms[1]
        return {
            "data_share": _SHARES[min(4 * banks[0] // config.cbuf_bank_number, len(_SHARES) - 1)],
            "data_end": None if data_end is None else _end(data_end, rooms[0]),
            "weight_end": None if weight_end is None else _end(weight_end, rooms[1]),
        }


def _end(end: int, room: int) -> str:
    """Return where the last of so many entries lies in a ring."""
    return _BESIDE.get(end - room, "before" if end < room else "after")
