"""From pixels to the elements of the convolution: sign, mean subtraction and the input converter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nvdla_models.arithmetic import HARDWARE, Rules, Site
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.errors import InputError
from nvdla_models.layout.pixel_formats import PixelFormat
from nvdla_models.layout.raw import Array, check_array
from nvdla_models.precision import Precision


@dataclass(frozen=True)
class PixelConversion:
    """The processing of each element of an image on the input side of the convolution.

    Args:
        precision: type that the convolution computes with.
        converter: offset, scale and shift, or None to take elements bit by bit.
        mean: value subtracted per channel instead of the converter's offset, or None.
        signed: the sign override: elements are read as signed numbers; otherwise as unsigned, whatever
            the name of the format says.

    Raises:
        InputError: for a converter with the registers of another unit, or a mean without converter.

    Source: format document, Equation 1 and "Pixel Format"; sign override, mean in place of the offset
        and rounding from the public RTL, the results measured on nv_small.
    """

    precision: Precision
    converter: Converter | None = None
    mean: tuple[int, ...] | None = None
    signed: bool = False

    def __post_init__(self) -> None:
        if self.converter is None:
            if self.mean is not None:
                raise InputError(f"mean must be None without a converter, not {self.mean}")
        elif self.converter.encoding is not ConverterEncoding.CDMA_INPUT:
            raise InputError(f"converter must have the CDMA_INPUT encoding, not {self.converter.encoding.name}")

    def apply(self, pixels: PixelFormat, image: Array, rules: Rules = HARDWARE) -> Array:
        """Return the elements that the convolution sees.

        Args:
            pixels: the format of the image.
            image: (C, H, W) of the format's dtype.
            rules: rules of the converter's rounding and saturation.

        Returns:
            (C, H, W) of the precision's dtype.

        Raises:
            InputError: on another dtype or channel count, a float image for integers, or elements of
                another width without a converter.
        """
        check_array("image", image, (pixels.channels, *image.shape[1:]), pixels.element_dtype)
        if pixels.is_float:
            if self.precision is not Precision.FP16:
                raise InputError(f"precision must be FP16 for {pixels.name}, not {self.precision.name}")
            return image.copy()
        if self.mean is not None and len(self.mean) != pixels.channels:
            raise InputError(f"mean must hold {pixels.channels} values for {pixels.name}, not {len(self.mean)}")
        raw = image.view(f"<u{image.itemsize}")
        lifted = np.stack([raw[c] << raw.dtype.type(pixels.converter_shift(c)) for c in range(pixels.channels)])
        if self.converter is None:
            if self.precision.nbytes != image.itemsize:
                raise InputError(
                    f"precision must have the {image.itemsize} bytes of {pixels.name} without a "
                    f"converter, not {self.precision.name}"
                )
            return lifted.view(self.precision.dtype)
        if self.signed:
            lifted = lifted.view(f"<i{image.itemsize}")
        result = np.empty(image.shape, dtype=self.precision.dtype)
        for c in range(pixels.channels):
            offset = self.converter.offset if self.mean is None else self.mean[c]
            channel = Converter(offset, self.converter.scale, self.converter.shift, self.converter.encoding)
            result[c] = channel.convert(lifted[c], self.precision, rules.at(Site.CDMA)).view(self.precision.dtype)
        return result
