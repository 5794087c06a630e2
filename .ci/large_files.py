"""Refuse tracked files above 5 MB: a clone keeps every version of them for ever."""

import subprocess
import sys
from pathlib import Path

LIMIT = 5_000_000
EXEMPT = "src/riverboat/agents/shipped/"  # tables of the agents in the wheel


def large_files(root: Path = Path()) -> list[str]:
    """List tracked and staged files of a repository that are too large; none where there is no repository."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], capture_output=True, check=False).stdout
    names = [name for name in listed.decode("utf-8").split("\0") if name and not name.startswith(EXEMPT)]
    return [name for name in names if (root / name).is_file() and (root / name).stat().st_size > LIMIT]


if __name__ == "__main__":
    found = large_files()
    for name in found:
        sys.stderr.write(f"{name}: above {LIMIT:,} bytes; make it smaller, or keep it out of the repository\n")
    sys.exit(bool(found))
