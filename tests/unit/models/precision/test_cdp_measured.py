"""Integer CDP layers of the real nv_full, from their register writes to every byte they left in memory."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from models.config import HwConfig
from tb.judge.predictor import predict
from tb.judge.tracker import LayerTracker, StartedLayer
from tb.nvdla.layers import CdpLayer
from tb.nvdla.memory import Ram
from tb.nvdla.program.lut import lut_writes
from tests.unit.models.precision.conftest import Layer, Measured

FULL = HwConfig.load("nv_full")


def started_by(layer: Layer) -> StartedLayer:
    """Play the register writes of a measured layer, which store the entries of its tables as arrays."""
    tracker = LayerTracker(FULL)
    loads = lut_writes("CDP", (tuple(layer.arrays["lut_le"].tolist()), tuple(layer.arrays["lut_lo"].tolist())))
    writes = [(op.register, op.value) for op in loads]
    writes += [(name, value) for name, value in layer.meta["registers"] if "S_LUT_ACCESS" not in name]
    (started,) = [
        started for name, value in writes for started in tracker.write(tracker.state.registers.parse(name), value)
    ]
    return started


@pytest.mark.parametrize("name", ["cdp_int8_lrn3", "cdp_int16_lrn3_full", "cdp_int16_lrn5_full"])
def test_every_byte_of_a_measured_integer_layer_is_predicted(measured: Measured, name: str) -> None:
    (layer,) = measured(name)
    started = started_by(layer)
    assert isinstance(started.layer, CdpLayer)
    surface = started.layer.src
    memory = surface.layout.pack(layer.arrays["input"].view(surface.layout.precision.dtype))

    def read(ram: Ram, address: int, nbytes: int) -> npt.NDArray[np.uint8]:
        assert (ram, address, nbytes) == (Ram.MC, surface.address, len(memory))
        return memory

    expected = predict(started, read)
    assert expected.must_write.all()  # padding channels too
    np.testing.assert_array_equal(expected.data, layer.arrays["raw_output"], strict=True)
