"""What tests of evaluation share."""

import pytest

from riverboat.evaluation.matches import value_tables


@pytest.fixture(autouse=True, scope="session")
def nothing_is_kept():
    """Tables of values are made again in every run: what an older state of the code left would be taken for right."""
    found: dict[str, object] = {}

    def made(name, make):
        if name not in found:
            found[name] = make()
        return found[name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(value_tables, "kept", made)
        yield
