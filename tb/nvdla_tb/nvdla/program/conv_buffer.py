"""The content of the convolution buffer from one convolution to the next, and the fetches of CDMA for the next one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nvdla_tb.nvdla.layers import ConvLayer
from nvdla_tb.nvdla.program.table import Refused
from nvdla_tb.nvdla.surfaces import ImageSurface

_LINES = "CSC.D_DATAIN_SIZE_EXT_0.datain_height_ext"
_KERNELS = "CSC.D_WEIGHT_SIZE_EXT_1.weight_kernel"
_BYTES = "CDMA.D_WEIGHT_BYTES.weight_bytes"
_DATA_REUSE = "CDMA.D_MISC_CFG.data_reuse"
_WEIGHT_REUSE = "CDMA.D_MISC_CFG.weight_reuse"


@dataclass(frozen=True)
class Fetch:
    """The fetches of CDMA for a convolution, and the lines of its input that lie in the buffer in front of them.

    Attributes:
        data: whether it fetches the lines of ``src``.
        weights: whether it fetches weights.
        kept_lines: lines that earlier layers have left and the layer takes.
    """

    data: bool = True
    weights: bool = True
    kept_lines: int = 0

    @property
    def all(self) -> bool:
        """Whether the layer finds nothing of use in the buffer, and fetches all that it needs."""
        return self.data and self.weights and not self.kept_lines


FETCHES_ALL = Fetch()


class ConvBuffer:
    """The lines and weights that CSC has not given back.

    - The data banks are emptied when their number changes, those of weights when either number does.
    - A layer that keeps its input gives nothing back, any other one ``release_slices`` of its lines. What is left of
      the lines that it convolved is given back when the next layer begins that does not reuse data or reads images
      where this one reads cubes, or cubes where it reads images.
    - A layer that reuses data fetches nothing when the one before has kept all of its input; otherwise it fetches
      ``src``, whose lines come after those that are left.
    - A layer that reuses weights fetches none when the one before has kept them. Weights that are kept are given back
      when the next layer begins that does not reuse them, as many bytes as the registers of the last layer say.

    Source: programming guide, "Convolution" and "Limitation", Convolution; where the guide lets the heights decide
        whether a fetch is skipped, the flags do: read off the public nv_small RTL and measured there.
    """

    def __init__(self) -> None:
        """Start with an empty buffer, as after a reset."""
        self._last: tuple[str, ConvLayer] | None = None
        self._lines = 0
        self._entries = 0
        self._kernels = 0
        self._stored_bytes = 0

    @property
    def lines(self) -> int:
        """Lines that the last layer has left."""
        return self._lines

    @property
    def stale_lines(self) -> int:
        """Lines that would stay in front of those of a layer with as many banks that does not reuse them."""
        if self._last is None:
            return 0
        last = self._last[1]
        given_back = last.slices - (0 if last.cbuf.skip_data_release else last.cbuf.release_slices)
        return max(0, self._lines - given_back)

    @property
    def has_stale_weights(self) -> bool:
        """Whether anything would stay in front of the weights of a layer that fetches its own into the same banks."""
        return self._stale_weights() != (0, 0)

    def _stale_weights(self) -> tuple[int, int]:
        """Return the entries and kernels that would stay there."""
        if self._last is None or not self._last[1].cbuf.skip_weight_release:
            return self._entries, self._kernels
        weights = self._last[1].weights
        return self._entries - weights.stored_entries, self._kernels - weights.layout.shape[0]

    def begin(self, name: str, layer: ConvLayer) -> Fetch:
        """Follow a convolution, a batch as a whole, by its name in messages.

        Raises:
            Refused: when it would wait for ever for lines or weights, or take others than its own.
        """
        data, kept_lines = self._begin_data(layer)
        weights = self._begin_weights(layer)
        released = 0 if layer.cbuf.skip_data_release else layer.cbuf.release_slices
        self._lines = kept_lines + (layer.src.layout.shape[1] if data else 0) - released
        if not layer.cbuf.skip_weight_release:
            self._entries -= layer.weights.used_entries
            self._kernels -= layer.weights.layout.shape[0]
        self._last = name, layer
        return Fetch(data, weights, kept_lines)

    def _begin_data(self, layer: ConvLayer) -> tuple[bool, int]:
        """Return whether data are fetched, and how many lines lie in front of them."""
        height, lines = layer.src.layout.shape[1], layer.height
        if self._last is None or self._last[1].cbuf.data_banks != layer.cbuf.data_banks:
            self._lines = 0
            self._check_lines(lines, height, "the data banks begin empty")
            return True, 0
        name, last = self._last
        if not layer.cbuf.reuse_data or _mode(last) != _mode(layer):
            if self.stale_lines:
                raise Refused(
                    f"CDMA.D_BANK.data_bank must differ from that of {name}, not {layer.cbuf.data_banks}: "
                    f"{self.stale_lines} lines that it did not convolve stay in the convolution buffer in front of the "
                    "next ones"
                )
            self._lines = 0
            self._check_lines(lines, height, f"{name} leaves nothing for this kind of input")
            return True, 0
        if self._lines:
            self._check_alike(name, last, layer)
        if last.cbuf.skip_data_release:
            if lines > self._lines:
                raise Refused(f"{_LINES} must be at most the {self._lines} lines that {name} has kept, not {lines}")
            return False, self._lines
        self._check_lines(lines, self._lines + height, f"{name} leaves {self._lines} lines and {height} are fetched")
        return True, self._lines

    def _begin_weights(self, layer: ConvLayer) -> bool:
        """Return whether weights are fetched."""
        weights, kernels = layer.weights, layer.weights.layout.shape[0]
        if self._last is None or _banks(self._last[1]) != _banks(layer):
            self._entries = self._kernels = 0
        else:
            name, last = self._last
            if layer.cbuf.reuse_weights and last.cbuf.skip_weight_release:
                self._check_kept_weights(name, last, layer)
                return False
            if self.has_stale_weights:
                entries_left, kernels_left = self._stale_weights()
                what = "weights that it did not use" if kernels_left else "padding after its weights"
                raise Refused(
                    f"CDMA.D_BANK.weight_bank must differ from that of {name}, not {layer.cbuf.weight_banks}: "
                    f"{entries_left} entries of {what} stay in the convolution buffer in front of the next weights"
                )
        self._entries, self._kernels = weights.stored_entries, kernels
        self._stored_bytes = weights.layout.elements * weights.layout.precision.nbytes
        return True

    def _check_kept_weights(self, name: str, last: ConvLayer, layer: ConvLayer) -> None:
        layout, kernels = layer.weights.layout, layer.weights.layout.shape[0]
        nbytes = layout.elements * layout.precision.nbytes
        if last.weights.compression is not None:
            raise Refused(f"{_WEIGHT_REUSE} must be DISABLE after the compressed weights of {name}: not measured")
        if kernels > self._kernels:
            raise Refused(f"{_KERNELS} must be at most the {self._kernels} kernels that {name} has kept, not {kernels}")
        if nbytes > self._stored_bytes:
            raise Refused(
                f"{_BYTES}: weights must be at most the {self._stored_bytes} bytes that {name} has kept, not {nbytes}"
            )
        if layer.weights.stored_entries > self._entries:
            raise Refused(
                f"{_BYTES} must be at most the {self._entries} entries that {name} has kept, "
                f"not {layer.weights.stored_entries}"
            )

    @staticmethod
    def _check_lines(lines: int, expected: int, why: str) -> None:
        if lines != expected:
            raise Refused(f"{_LINES} must be {expected}, because {why}, not {lines}")

    @staticmethod
    def _check_alike(name: str, last: ConvLayer, layer: ConvLayer) -> None:
        """Refuse lines that do not lie in the buffer as the layer reads them."""
        if last.batch is not None or last.params.winograd:
            raise Refused(f"{_DATA_REUSE} must be DISABLE after {name}, a batch or Winograd: not measured")
        checks: list[tuple[str, Any, Any]] = [
            ("CDMA.D_MISC_CFG.proc_precision", layer.params.precision.name, last.params.precision.name),
            ("CDMA.D_DATAIN_SIZE_0.datain_width", layer.src.layout.shape[2], last.src.layout.shape[2]),
            ("CDMA.D_DATAIN_SIZE_1.datain_channel", layer.src.layout.shape[0], last.src.layout.shape[0]),
        ]
        if isinstance(layer.src, ImageSurface):
            # CDMA puts the columns of padding into the lines of an image.
            ours, theirs = layer.params, last.params
            checks += [
                ("CDMA.D_ZERO_PADDING.pad_left", ours.pad_left, theirs.pad_left),
                ("CDMA.D_ZERO_PADDING.pad_right", ours.pad_right, theirs.pad_right),
            ]
            if ours.pad_left + ours.pad_right:
                checks.append(("CDMA.D_ZERO_PADDING_VALUE.pad_value", ours.pad_value, theirs.pad_value))
        for field, got, expected in checks:
            if got != expected:
                raise Refused(f"{field} must be the {expected} of {name}, whose lines are reused, not {got}")


def _mode(layer: ConvLayer) -> tuple[bool, bool]:
    return isinstance(layer.src, ImageSurface), layer.params.winograd


def _banks(layer: ConvLayer) -> tuple[int, int]:
    return layer.cbuf.data_banks, layer.cbuf.weight_banks
