"""The format ``dlhdl`` of the commands that pack, unpack and describe data."""

from __future__ import annotations

from collections.abc import Mapping

from dlhdl_models.layout import ConvolutionDataLayout, DlhdlType, FullyConnectedDataLayout, thread_number
from nvdla_tb.cli.layout_formats import Format
from nvdla_tb.cli.layout_options import Given, Option
from nvdla_tb.cli.layout_subjects import Subject


def _dlhdl(given: Given) -> Subject:
    module = given.choice("module", ("convolution", "fully-connected"))
    kind = DlhdlType(given.choice("precision", [kind.value for kind in DlhdlType]))
    threads = thread_number(given.integer("conv-thread-number", 0))
    if module == "convolution":
        return Subject(ConvolutionDataLayout(kind, given.integers("shape", "Z,Y,X"), threads), ("z", "y", "x"))
    (values,) = given.integers("shape", "X")
    return Subject(FullyConnectedDataLayout(kind, values, threads), ("x",), outside=lambda found: (found.c,))


_OPTIONS = {
    "module": Option("NAME", "convolution or fully-connected; a custom layer has that of the layer before it"),
    "conv-thread-number": Option("N", "ConvThreadNumber of the processor, a square"),
}
_REMARKS = {"precision": "for dlhdl single or int8", "shape": "of dlhdl Z,Y,X or X"}

FORMATS: Mapping[str, Format] = {
    "dlhdl": Format(("module", "precision", "shape", "conv-thread-number"), (), _dlhdl, _OPTIONS, _REMARKS),
}
