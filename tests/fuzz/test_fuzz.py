"""The cases as tests: a subset in every run, all of them among the slow tests."""

import pytest

from . import judge, suite
from .case import documented
from .conftest import FOUND
from .runner import run


def _marked(case):
    marks = [] if case.id in suite.fast() else [pytest.mark.slow]
    return pytest.param(case, id=case.id, marks=marks)


@pytest.mark.parametrize("case", [_marked(case) for case in suite.cases()])
def test_bad_input(case, root, record_property):
    result = judge.faults(case, run(case, root))
    record_property(FOUND, " ".join(fault.kind for fault in result))
    report = "\n".join([case.id, " ".join(word[:200] for word in case.words), *map(str, result)])
    # words that are not UTF-8 cannot be sent between the processes of the tests
    assert not result, report.encode("utf-8", "backslashreplace").decode()


def test_number_of_cases():
    assert len(suite.cases()) >= 1000
    assert len(suite.fast()) == suite.FAST
    chosen = {case.group for case in suite.cases() if case.id in suite.fast()}
    assert chosen == {case.group for case in suite.cases() if not case.slow}


def test_expected_codes_are_documented():
    assert set().union(*(case.expect for case in suite.cases())) <= set(documented())
