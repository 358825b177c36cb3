"""Files that onnxruntime's static quantiser writes: all its modes on three networks, ``python -m tests.quantiser``.

Each must run on the accelerator and be near the file: cosine above 0.99, the same class for 99 % of 100 samples.
Tests play some modes with fewer samples.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnxruntime import quantization

from nvdla_networks.compiler.accuracy import accuracy_of
from nvdla_networks.compiler.cut_network import CutNetwork
from nvdla_networks.compiler.prepare import fixed, prepared
from nvdla_networks.compiler.reference import Reference
from tests.unit.networks.compiler.classifiers import CLASSIFIERS, pictures
from tests.unit.networks.loadables import SMALL

_CALIBRATING = 48
_MANY = 100

Mode = tuple[tuple[str, Any], ...]


def _mode(**options: Any) -> Mode:
    return tuple(options.items())


def name_of(mode: Mode) -> str:
    """Return the options of a mode."""
    return " ".join(f"{name}={value}" for name, value in mode)


OF_ALL = [
    _mode(quant_format=form, activation_type=of[0], weight_type=of[1], per_channel=each, **symmetric)
    for form, of, each, symmetric in itertools.product(
        ("QDQ", "QOperator"),
        (("QUInt8", "QInt8"), ("QUInt8", "QUInt8"), ("QInt8", "QInt8")),
        (False, True),
        ({}, {"ActivationSymmetric": True}, {"WeightSymmetric": False}, {"WeightSymmetric": True}),
    )
]
MORE = [
    *(
        _mode(quant_format=form, reduce_range=True, per_channel=each)
        for form in ("QDQ", "QOperator")
        for each in (0, 1)
    ),
    *(
        _mode(quant_format=form, calibrate_method=method, activation_type=of)
        for form in ("QDQ", "QOperator")
        for method in ("Entropy", "Percentile")
        for of in ("QUInt8", "QInt8")
    ),
    *(
        _mode(quant_format="QDQ", activation_type=of, weight_type=weights)
        for of, weights in (("QUInt16", "QInt8"), ("QInt16", "QInt16"), ("QUInt8", "QInt4"), ("QUInt16", "QUInt4"))
    ),
    *(
        _mode(quant_format="QDQ", **{option: value})
        for option, value in (
            ("DedicatedQDQPair", True),
            ("AddQDQPairToWeight", True),
            ("QuantizeBias", False),
            ("QDQKeepRemovableActivations", True),
            ("CalibMovingAverage", True),
            ("UseQDQContribOps", True),
        )
    ),
]
QUICK = [*OF_ALL[::9], *MORE[2::3], MORE[-1]]
"""Those that tests play."""


def _quantised(name: str, mode: Mode, folder: Path) -> onnx.ModelProto:
    """Return a network as the quantiser writes it in one of its modes."""
    given: dict[str, Any] = {"extra_options": {}}
    for option, value in mode:
        if option[0].isupper():
            given["extra_options"][option] = value
        elif option == "quant_format":
            given[option] = quantization.QuantFormat[value]
        elif option == "calibrate_method":
            given[option] = quantization.CalibrationMethod[value]
        else:
            # Types, and what is said or not.
            given[option] = quantization.QuantType[value] if isinstance(value, str) else bool(value)
    model = CLASSIFIERS[name]()
    source, path = folder / "float.onnx", folder / "quantised.onnx"
    onnx.save(model, source)

    class Samples(quantization.CalibrationDataReader):
        def __init__(self) -> None:
            self._left: Iterator[Any] = iter(pictures()[0][:_CALIBRATING])

        def get_next(self) -> dict[str, Any] | None:
            picture = next(self._left, None)
            return None if picture is None else {model.graph.input[0].name: picture[np.newaxis]}

    quantization.quantize_static(str(source), str(path), Samples(), **given)
    return onnx.load(path)


def check(name: str, mode: Mode, folder: Path, count: int) -> None:
    """Fail unless a network in a mode runs on the accelerator, and is near the file for so many samples."""
    whole = fixed(_quantised(name, mode, folder).SerializeToString())
    images = pictures()[0].astype(np.float64)
    samples = [{whole.graph.input[0].name: image} for image in images]
    network = CutNetwork.compiled(name, prepared(whole), SMALL, samples[:_CALIBRATING])
    share = network.cut.share
    assert share.multiplications == 1
    assert not share.host
    reference = Reference(whole, network.cut.compared, by_host=True)
    (output,) = accuracy_of(network, reference, samples[-count:], 0).outputs
    assert output.cosine is not None
    assert output.same_class is not None
    assert (output.cosine > 0.99, output.same_class >= 0.99 * count) == (True, True), output


def main() -> int:
    """Play all modes on all networks, and return how many failed."""
    failed = 0
    for mode, name in itertools.product([*OF_ALL, *MORE], CLASSIFIERS):
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(name, mode, Path(folder), _MANY)
            except AssertionError as error:
                failed += 1
                print(f"failed: {name} {name_of(mode)}: {str(error).splitlines()[0]}", flush=True)
    print(f"{failed} of {len([*OF_ALL, *MORE]) * len(CLASSIFIERS)} failed")
    return failed


if __name__ == "__main__":
    sys.exit(min(main(), 1))
