"""What the convolution core hands to SDP."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models import conv
from models.converter import Converter
from models.layout import ImageWeightLayout, PixelConversion
from tb.layers import ConvLayer
from tb.predictor.expectation import ReadMemory
from tb.surfaces import ImageSurface


def convolve(layer: ConvLayer, read: ReadMemory) -> NDArray[np.int32]:
    """Return what the convolution core hands to SDP: int32, with zeros in the padding channels."""
    src, conversion = layer.src, layer.conversion
    if isinstance(src, ImageSurface):
        planes = zip(src.addresses, src.layout.plane_nbytes, strict=True)
        image = src.layout.unpack(np.concatenate([read(src.ram, address, nbytes) for address, nbytes in planes]))
        assert isinstance(conversion, PixelConversion)
        cube = conversion.apply(src.layout.format, image)
    else:
        cube = src.layout.unpack(read(src.ram, src.address, src.layout.nbytes))
        if isinstance(conversion, Converter):
            cube = conversion.convert(cube, layer.params.precision)
    stored = layer.weights.layout
    weights = stored.unpack(read(layer.weights.ram, layer.weights.address, stored.nbytes))
    if isinstance(stored, ImageWeightLayout):
        weights = stored.original(weights)
    result = conv.run(layer.params, cube, weights)
    padding = layer.dst.layout.padded_channels - result.shape[0]
    return np.pad(result, ((0, padding), (0, 0), (0, 0)))
