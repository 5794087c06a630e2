"""Plugins: errors in user code become one line with its location."""

import sys

import pytest

from riverboat.agents.registry import make_agent
from riverboat.core.errors import InputError
from riverboat.games import registry
from riverboat.solvers import schedules

MODULES = {
    "own_broken": ("1 +\n", "SyntaxError", 1),
    "own_raises": ("x = 1\nraise RuntimeError('no')\n", "RuntimeError: no", 2),
    "own_needs": ("import no_such_module_at_all\n", "no_such_module_at_all", 1),
    "own_leaves": ("import sys\n\nsys.exit(3)\n", "SystemExit: 3", 3),
    "own_maker": ("def thing():\n    return {}['what']\n", "KeyError: 'what'", 2),
}


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("make", [registry.game_from_spec, schedules.parse, make_agent])
def test_errors_in_user_code_have_a_location(module, make, tmp_path, monkeypatch):
    text, what, line = MODULES[module]
    path = tmp_path / f"{module}.py"
    path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(InputError) as caught:
        make(f"{module}:thing")
    assert what in str(caught.value)
    assert f"{path}, line {line}" in str(caught.value)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("make", [registry.game_from_spec, schedules.parse, make_agent])
def test_missing_modules_and_objects(make):
    with pytest.raises(InputError, match="'no_such_module'"):
        make("no_such_module:thing")
    with pytest.raises(InputError, match="nothing"):
        make("json:nothing")
