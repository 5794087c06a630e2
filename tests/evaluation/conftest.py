"""Fixtures of the tests of evaluation."""

import pytest

from riverboat.evaluation.matches import value_tables


@pytest.fixture(autouse=True, scope="session")
def nothing_is_kept():
    """Compute value tables again in every run: tables of an older version of the code must not be used."""
    found: dict[str, object] = {}

    def made(name, make):
        if name not in found:
            found[name] = make()
        return found[name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(value_tables, "cached_arrays", made)
        yield
