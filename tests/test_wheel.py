"""The wheel works outside the checkout."""

import json
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent


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
    # The dependencies are those of this environment; riverboat itself must come from the wheel.
    here = sysconfig.get_paths()["purelib"]
    site = next((tmp_path / "venv" / "lib").glob("python*/site-packages"))
    (site / "dependencies.pth").write_text(here + "\n")
    code = "import riverboat; print(riverboat.__file__)"
    found = subprocess.run([python, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert str(site) in found.stdout
    command = [site.parents[2] / "bin" / "riverboat", "solve", "kuhn", "--json"]
    solved = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert json.loads(solved.stdout)["exploitability"] < 1e-3
