"""The wheel works outside the checkout."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_wheel_runs_outside_the_checkout(tmp_path):
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path / "dist"), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", str(wheel)],
        check=True,
        capture_output=True,
    )
    # Dependencies come from this environment; riverboat itself must come from the wheel.
    here = sysconfig.get_paths()["purelib"]
    site = next((tmp_path / "venv" / "lib").glob("python*/site-packages"))
    (site / "dependencies.pth").write_text(here + "\n")
    assert (site / "riverboat" / "web" / "page" / "index.html").is_file()
    code = "import riverboat; print(riverboat.__file__)"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    run = partial(subprocess.run, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True)
    result = run([python, "-c", code])
    assert str(site) in result.stdout
    command = [site.parents[2] / "bin" / "riverboat", "solve", "kuhn", "--json"]
    solved = run(command)
    assert json.loads(solved.stdout)["exploitability"] < 1e-3

    # The shipped agent plays immediately, without files in the user's folders.
    assert wheel.stat().st_size < 20_000_000
    alone = {**environment, "HOME": str(tmp_path / "home"), "XDG_DATA_HOME": str(tmp_path / "data")}
    table = "MATCHSTATE:1:30:cr300c/cr600c/r1200:|9s8h/8c8d5c/6s"
    acted = subprocess.run(
        [command[0], "act", "default", table, "--json"],
        cwd=tmp_path,
        env=alone,
        check=True,
        capture_output=True,
        text=True,
    )
    reported = json.loads(acted.stdout)
    assert reported["action"] in reported["probabilities"]
    assert sum(reported["probabilities"].values()) == pytest.approx(1)
    assert not (tmp_path / "data").exists()

    script = tmp_path / "every_verb.py"
    script.write_text((ROOT / "tests" / "user" / "every_verb.py").read_text())
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(python), script.name],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    reported = run([python, script.name]).stdout
    assert "(exact)" in reported
    assert "(estimate, 40 hands, seed 1)" in reported
