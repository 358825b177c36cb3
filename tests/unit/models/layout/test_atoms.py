"""The fast paths between planes and atoms equal numpy's plain transposition, block by block."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nvdla_models.layout import atoms
from tests.unit.models.support import random_bits


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    count=st.integers(1, 5),
    per_atom=st.sampled_from([1, 2, 3, 4, 8, 16, 32, 64]),
    height=st.integers(1, 7),
    width=st.integers(1, 40),
    dtype=st.sampled_from(["u1", "<u2", "<f4"]),
    block=st.sampled_from([1, 7, 64, 100000]),
    gap=st.integers(0, 2),
    seed=st.integers(0, 2**31),
)
def test_planes_become_atoms_and_back_whatever_the_block(
    monkeypatch: pytest.MonkeyPatch,
    count: int,
    per_atom: int,
    height: int,
    width: int,
    dtype: str,
    block: int,
    gap: int,
    seed: int,
) -> None:
    monkeypatch.setattr(atoms, "_BLOCK_WORDS", block)
    planes = random_bits((count, per_atom, height, width), np.dtype(dtype), seed)
    memory = np.zeros((count, height, width + gap, per_atom), dtype=dtype)
    view = memory[:, :, :width]
    atoms.planes_to_atoms(planes, view)
    assert view.tobytes() == planes.transpose(0, 2, 3, 1).tobytes()
    assert not memory[:, :, width:].any()
    channels = 1 + seed % per_atom
    back = np.empty((count, channels, height, width), dtype=dtype)
    atoms.atoms_to_planes(view, back)
    assert back.tobytes() == planes[:, :channels].tobytes()


def test_atoms_at_an_odd_address_are_read() -> None:
    planes = random_bits((2, 32, 8, 8), np.dtype("u1"), 1)
    raw = np.empty(planes.size + 1, dtype=np.uint8)[1:]
    view = atoms.atom_view(raw, (2, 8, 8, 32), 256, 2048)
    atoms.planes_to_atoms(planes, view)
    back = np.empty_like(planes)
    atoms.atoms_to_planes(view, back)
    np.testing.assert_array_equal(back, planes, strict=True)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    shape=st.tuples(st.integers(1, 5), st.integers(1, 40), st.integers(1, 6), st.integers(1, 6)),
    dtype=st.sampled_from(["u1", "<u2"]),
    block=st.sampled_from([1, 10, 100000]),
    channels_last=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_kernels_become_planes_and_back_whatever_the_block(
    monkeypatch: pytest.MonkeyPatch,
    shape: tuple[int, int, int, int],
    dtype: str,
    block: int,
    channels_last: bool,
    seed: int,
) -> None:
    monkeypatch.setattr(atoms, "BLOCK_ELEMENTS", block)
    kernels = random_bits(shape, np.dtype(dtype), seed)
    if channels_last:
        kernels = np.ascontiguousarray(kernels.transpose(2, 3, 0, 1)).transpose(2, 3, 0, 1)
    planes = atoms.kernels_to_planes(kernels)
    assert planes.tobytes() == kernels.transpose(2, 3, 0, 1).tobytes()
    back = np.empty(shape, dtype=dtype)
    atoms.planes_to_kernels(np.ascontiguousarray(planes), back)
    np.testing.assert_array_equal(back, kernels, strict=True)


def test_missing_channels_are_filled_on_the_short_and_on_the_long_path() -> None:
    for height in (1, 64):
        planes = random_bits((2, 3, height, 4), np.dtype("<i2"), height)
        view = np.zeros((2, height, 4, 16), dtype="<i2")
        atoms.planes_to_atoms(planes, view, np.array(-7, dtype="<i2"))
        np.testing.assert_array_equal(view[..., :3], planes.transpose(0, 2, 3, 1), strict=True)
        assert (view[..., 3:] == -7).all()
        atoms.planes_to_atoms(planes, view)
        assert not view[..., 3:].any()
