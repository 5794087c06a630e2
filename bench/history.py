"""Keep the history of speed: one row of `history.jsonl` for a release and machine.

    python bench/history.py add "16 cores of a Xeon" --threads 1,2,4,8,16
    python bench/history.py
    python bench/history.py --plot history.png

`add` runs `riverboat bench --threads` and appends its seconds. Without arguments, all rows are printed: the seconds of each
piece of work on one thread and on the most threads. `--plot` draws them by date, a line for each machine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "history.jsonl"


def add(machine: str, threads: str, report_file: Path | None) -> None:
    """Run the benchmark, or read its report, and append its seconds by work and threads."""
    if report_file is None:
        command = [sys.executable, "-m", "riverboat", "bench", "--threads", threads, "--json"]
        text = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    else:
        text = report_file.read_text(encoding="utf-8")
    report = json.loads(text)
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], stdout=subprocess.PIPE, check=True, text=True)
    seconds: dict[str, dict[str, float]] = {}
    for row in report["scaling"]:
        seconds.setdefault(row["work"], {})[str(row["threads"])] = row["seconds"]
    entry = {"date": str(date.today()), "commit": commit.stdout.strip(), "machine": machine, "seconds": seconds}
    with FILE.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def read() -> list[dict[str, Any]]:
    """Return all rows, in the order in which they were added."""
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()] if FILE.exists() else []


def show() -> None:
    """Print the seconds of each row on one thread and on the most threads."""
    for entry in read():
        print(f"{entry['date']}  {entry['commit']:12}  {entry['machine']}")
        for work, by_threads in entry["seconds"].items():
            (_, first), *_, (most, last) = [*by_threads.items(), *by_threads.items()]
            print(f"    {work:68}{first:10.4g} s{last:10.4g} s on {most}")


def plot(path: Path) -> None:
    """Draw the seconds on the most threads of each machine by date, one panel for each piece of work."""
    import matplotlib.pyplot as plt

    entries = read()
    works = list(dict.fromkeys(work for entry in entries for work in entry["seconds"]))
    figure, axes = plt.subplots(
        len(works), 1, sharex=True, figsize=(7, 1.6 * len(works)), layout="constrained", squeeze=False
    )
    for work, axis in zip(works, axes[:, 0], strict=True):
        for machine in dict.fromkeys(entry["machine"] for entry in entries):
            rows = [entry for entry in entries if entry["machine"] == machine and work in entry["seconds"]]
            dates = [date.fromisoformat(entry["date"]) for entry in rows]
            axis.plot(dates, [list(entry["seconds"][work].values())[-1] for entry in rows], "o-", label=machine)
        axis.set_title(work, fontsize=8, loc="left")
        axis.set_ylim(bottom=0)
    axes[0, 0].legend(fontsize=7)
    axes[-1, 0].tick_params(axis="x", rotation=30)
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path)
    commands = parser.add_subparsers(dest="command")
    adding = commands.add_parser("add", help="run the benchmark and append a row")
    adding.add_argument("machine", help="what describes the machine, such as its cores")
    adding.add_argument("--threads", default="1,2")
    adding.add_argument("--report", type=Path, help="output of `riverboat bench --threads … --json` on that machine")
    options = parser.parse_args()
    if options.command == "add":
        add(options.machine, options.threads, options.report)
    elif options.plot:
        plot(options.plot)
    else:
        show()


if __name__ == "__main__":
    main()
