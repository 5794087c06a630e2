"""The cache of arrays."""

import numpy as np
import pytest

from damaged_caches import HARMS, damage
from riverboat.core import cache as module
from riverboat.core.cache import cached_arrays


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path))
    calls = []

    def make():
        calls.append(1)
        return {"squares": np.arange(10) ** 2, "half": np.array(0.5, np.float32)}

    return calls, make


def test_arrays_are_computed_once(made):
    calls, make = made
    first, second = cached_arrays("some/table-1", make), cached_arrays("some/table-1", make)
    assert len(calls) == 1
    assert first.keys() == second.keys() == {"squares", "half"}
    for key in first:
        np.testing.assert_array_equal(first[key], second[key])
        assert first[key].dtype == second[key].dtype
    cached_arrays("some/table-2", make)  # another version
    assert len(calls) == 2


@pytest.mark.parametrize("harm", HARMS)
def test_damaged_arrays_are_computed_again(made, harm):
    calls, make = made
    cached_arrays("table-1", make)
    damage(module.cache_folder() / "table-1.npz", harm, "squares")
    np.testing.assert_array_equal(cached_arrays("table-1", make)["squares"], np.arange(10) ** 2)
    assert len(calls) == 2
    cached_arrays("table-1", make)
    assert len(calls) == 2  # and stored again


def test_an_unwritable_folder_is_no_error(made, monkeypatch, tmp_path):
    calls, make = made
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path / "file"))
    for _ in range(2):
        np.testing.assert_array_equal(cached_arrays("table-1", make)["squares"], np.arange(10) ** 2)
    assert len(calls) == 2
