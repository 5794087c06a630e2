"""Old names of public attributes work for one release, with a warning."""

from __future__ import annotations

import pytest

import riverboat as rb
from riverboat.strategies.solution import Solution, SolutionNode


@pytest.mark.parametrize("kind", [Solution, SolutionNode, rb.Result])
def test_old_names_lead_to_attributes_that_exist(kind: type) -> None:
    assert kind._renamed_attributes
    for old, new in kind._renamed_attributes.items():
        assert hasattr(kind, new) or new in kind.__dataclass_fields__, f"{kind.__name__}.{old} -> {new}"
        assert not hasattr(kind, old)


def test_an_old_name_warns_and_an_unknown_one_is_an_error() -> None:
    result = rb.solve("kuhn", iterations=1)
    with pytest.warns(DeprecationWarning, match="answer_description"):
        assert result.shown_answer == result.answer_description
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = result.no_such_name
