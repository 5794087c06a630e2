"""Compare two checkouts of Riverboat: same commands, same numbers, bit for bit.

    python tools/compare_checkouts.py OLD NEW [--only NAME ...] [--slow] [--list]

Each case is a list of `riverboat` commands. One process runs them in each checkout, with one thread, caches of its own and an
empty folder. Exit codes, JSON output and all files that the commands write must be equal, except for times, rates, dates and
memory readings. The exit code is 0 if all cases are equal, else 1.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

# Keys, and paths of keys, whose values vary from run to run: times, rates, dates, process ids, sizes of files that hold such
# values, what `team` finds in a given time. Checksums are left out because the files themselves are compared.
VARYING = r"(^|_)(micro)?seconds($|_)|_per_second$|^(core_hours|created|started|changed|pid|zipped|sha256)$"
VARYING_PATH = r"^trials\[\d+\]\.history\[\d+\]\[1\]$|^teams\[\d+\]\.(alone_low|alone_high|boxes)$"
LIMIT, SHOWN = 600, 20  # seconds for one case in one checkout, and differences printed per case

# A process of its own runs the commands of a case one after the other, so that modules are imported once. It stores the exit
# code, output and errors of each. `A > F` also writes the output of A to the file F. Scripts are run by name and print JSON.
DRIVER = r"""
import contextlib, importlib, io, json, pathlib, shlex, sys, traceback
import riverboat
spec = json.loads(sys.argv[1])
assert pathlib.Path(riverboat.__file__).is_relative_to(spec["source"]), riverboat.__file__
module, _, function = spec["entry"].partition(":")
main = getattr(importlib.import_module(module), function)
def run(*words):
    sys.argv = ["riverboat", *words]
    try:
        main()
    except SystemExit as end:
        return end.code or 0
    return 0
results = []
for step in spec["steps"]:
    command, _, target = step.partition(" > ")
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            script = spec["scripts"].get(command)
            code = exec(script, {"run": run}) or 0 if script else run(*shlex.split(command))
        except BaseException:
            code = "exception"
            traceback.print_exc()
    if target:
        pathlib.Path(target).write_text(out.getvalue(), encoding="utf-8")
    results.append((code, out.getvalue(), err.getvalue()))
    pathlib.Path(spec["results"]).write_text(json.dumps(results), encoding="utf-8")
"""
LIST_FLAGS = r"""
import contextlib, io, json, re
found = {}
def describe(*words):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert run(*words, "--help") == 0, words
    text = out.getvalue()
    options = {name: re.findall(r"^<[^>]*>|\[default: [^\]]*\]", " ".join(rest.split()))
               for name, rest in re.findall(r"^  (--[\w-]+)(.*(?:\n {4,}.*)*)", text, re.M)}
    found[" ".join(words) or "riverboat"] = {"usage": text.split("\n")[0], "options": options}
    for name in re.findall(r"^  ([a-z]+)(?: |$)", text.partition("Commands:\n")[2], re.M):
        describe(*words, name)
describe()
print(json.dumps(found))
"""
LIST_NAMES = r"""
import inspect, json
import riverboat as rb
found = {}
for name in dir(rb):
    value = getattr(rb, name)
    plain = callable(value) and name != "RiverboatError"  # errors have no signature
    signature = inspect.signature(value).parameters if plain else {}
    row = [f"{p.kind.description} {p.name} {p.default is not p.empty}" for p in signature.values()]
    public = [n for n in dir(value) if not n.startswith("_")] if inspect.isclass(value) else ()
    found[name] = {"kind": type(value).__name__, "parameters": row, "public": dict.fromkeys(public, "present")}
print(json.dumps(found))
"""
USE_LIBRARY = r"""
import json, pathlib
import riverboat as rb
result = rb.solve("leduc", schedule=rb.dcfr(alpha=2.0), iterations=30)
strategy, solver = result.strategy, rb.CFR(rb.compile_game(rb.game("kuhn")), rb.schedules.cfr_plus())
solver.step(25)
table = rb.play(rb.agent("always-call"), seed=1, game="kuhn")
while not table.over:
    table.act(table.legal()[0])
spot = rb.Spot.make(board="Td9d6hQc2s", pot=200, stack=900, bets="60%,a", oop="KsJs,T9s", ip="QQ,87s")
print(json.dumps({
    "exploitability": [result.exploitability, rb.quality(strategy).exploitability, solver.exploitability()],
    "responses": {player: [best.value, best.gain] for player, best in rb.respond(strategy).items()},
    "loaded": rb.load(rb.save(strategy, pathlib.Path("saved"))) == strategy, "row": strategy["Ks:"], "won": table.won,
    "match": rb.match("random", "always-call", hands=40, seed=1, game="leduc").mbb_per_game,
    "claims": [str(claim) for claim in result.claims], "spot": rb.solve(spot, iterations=20).exploitability,
}))
"""
SCRIPTS = {"list-flags": LIST_FLAGS, "list-names": LIST_NAMES, "use-library": USE_LIBRARY}

LEDUC = {"leduc.toml": "game = 'leduc'\n"}
SMALL_DECK = """game = "bench-3x20"
menu = { preflop = ["a"], flop = ["50%, a", "a"] }
training = { weighting = "linear", period = 1000 }"""
COARSE_CARDS = """flop = { method = "histogram", sample = 300, passes = 1, buckets = 6 }
turn = { method = "histogram", sample = 300, passes = 1, buckets = 5 }
river = { method = "strength", buckets = 4 }"""
SIGNALS = {
    "river.toml": "signals = { 0 = { cdf = [[0, 0], [0.5, 0.2], [1, 1]] }, 1 = { cdf = [[0, 0], [1, 1]] } }\n"
    "river = { pot = 4, bets = [1] }",
    "m.toml": '[[model]]\nname = "bluffs"\nbands = { root = "b x b", x = "b x b", b = "f c", x-b = "f c" }',
    "bids.toml": 'auction = { bids = [0, 0.15, 0.3, 0.45, 0.6], price = "first" }',
}
RANGES = "--oop KsJs:0.7,T9s,55:0.9,KdJd --ip QQ,AdKd:0.8,87s,A9o:0.35"
RIVER = f"solve spot --board Td9d6hQc2s --pot 200 --stack 900 --bets 60%,a --raises 2.5x {RANGES}"
TURN = f"solve spot --board Td9d6hQc --pot 200 --stack 500 --bets 50%,a {RANGES}"
FLOP = "solve spot --board QsJh2h --pot 40 --stack 60 --bets a --oop AA,KK,T9s --ip QQ,A5s"
SIMULATED = "solve spot --board AsKd7c4h2s --pot 2 --stack 2 --oop AA --ip KK --bets a --device cuda --iterations 3"
ON_RIVER = "'MATCHSTATE:0:30:cr250c/cr500c/cc/cr777:9s8h|/8c8d5c/6s/Kh'"
ON_TURN = "'MATCHSTATE:0:30:cr250c/cr500c/cr1500:9s8h|/8c8d5c/6s'"
TRAIN = "--mode deterministic --seed 1 --threads 1"
TRAIN_LEDUC = f"train leduc.toml --iterations 20000 {TRAIN} --out run"


@dataclass(frozen=True)
class Case:
    """Commands that one process runs in an empty folder.

    Semicolons separate commands, which get `--json` unless they write CSV. Commands that begin with `!` must fail, all others
    must succeed: a case that fails in both checkouts shows nothing.
    """

    name: str
    commands: str
    files: dict[str, str] = field(default_factory=dict)  # input files: name and text
    examples: tuple[str, ...] = ()  # input files under examples/ of the checkout
    prepared: str = ""  # commands that OLD alone runs first; NEW gets a copy of what they write
    environment: dict[str, str] = field(default_factory=dict)
    slow: bool = False  # only with --slow, or by name


CASES = [
    # Tables of regrets and average strategies
    Case("leduc-full", "; ".join(f"solve leduc --schedule {s} --iterations 40 --out {s}"
                                 for s in ("dcfr", "cfr+", "pcfr+", "linear"))),
    Case("leduc-sampled", "; ".join(f"solve leduc --traversal {t} --iterations 2000 --seed 3 --out {t}"
                                    for t in ("external", "outcome", "pcs", "opcs", "spcs", "chance"))),
    Case("river", f"{RIVER} --iterations 50 --out compact; {RIVER} --iterations 20 --dtype float64 --schedule pcfr+ --out 64;"
         "solve river.toml --iterations 20 --out file", examples=("spots/river.toml",)),
    Case("turn", f"{TURN} --iterations 20 --out compact; {TURN} --iterations 20 --dtype 16-bit --out small"),
    Case("flop-isomorphism", f"{FLOP} --iterations 5 --out flop; {FLOP} --estimate"),
    Case("holdem-2-1", "solve holdem:2-1 --iterations 2 --out whole; solve holdem:2-1,ranks=5 --iterations 20 --out small"),
    Case("train", f"{TRAIN_LEDUC}; train deck.toml --abstraction lossless --iterations 2000 {TRAIN} --out deck;"
         "train leduc.toml --estimate; train demo --estimate; train --list", files=LEDUC | {"deck.toml": SMALL_DECK}),
    Case("search", f"act 'default?search=river&iterations=20' {ON_RIVER} --explain;"
         f"act 'default?search=river&method=maxmargin&iterations=20' {ON_RIVER} --seed 2;"
         f"act 'default?search=turn&iterations=5' {ON_TURN}; act default {ON_TURN}"),
    Case("cuda-simulator", f"{SIMULATED} --out compact; {SIMULATED} --out small --dtype 16-bit;"
         f"{SIMULATED} --out f64 --dtype float64 --schedule cfr+", environment={"NUMBA_ENABLE_CUDASIM": "1"}),
    # Commands
    Case("solve-small", "solve kuhn --until 1e-3; solve bluff:1,1 --iterations 20; solve rps --method lp; games;"
         "solve coin_toss --iterations 50 --answer best --check-every 5; solve kuhn --method egt --iterations 50;"
         "solve leduc --method undominated --out lp; solve kuhn:players=3 --iterations 20 --out 3; solve leduc --estimate;"
         "convert kuhn --out kuhn.efg; solve kuhn.efg --iterations 10; convert rps --out rps.nfg; solve rps.nfg --method lp;"
         "sweep kuhn leduc --schedule dcfr --schedule cfr+ --iterations 20"),
    Case("own-game", "solve own_game:AKQ --method lp; solve own_game:HalfStreet --iterations 50 --out akq;"
         "show akq Q: --game own_game:HalfStreet; solve own_history_game:Pennies --iterations 50;"
         "solve kuhn --schedule own_rule:HEDGE --iterations 50",
         examples=("own_game.py", "own_history_game.py", "own_rule.py")),
    Case("read-run", "solve leduc --iterations 40 --out run; exploitability run; respond run; show run; show run Ks:;"
         "respond run --player 0 --out best; export run; export run --csv --out run.csv; explain run --rules 4;"
         "solve leduc --iterations 60 --out run --resume; trace kuhn --deal QJ; trace leduc --deal KsQs --iteration 3"),
    Case("read-spot", f"{RIVER} --iterations 50 --out spot; show spot; show spot x --table equity; exploitability spot;"
         "show spot --range --player ip; export spot; export spot --csv --out spot.csv; explain spot root --rules 4;"
         "charts spot; drill spot --show"),
    Case("read-shipped", "show default; show default preflop; show default cr300c/ --board 8c8d5c; charts default --list;"
         "explain default root --rules 3; !litmus default; drill --show"),
    Case("cards", "equity AhKh QQ --board 2h7h9c --threads 1; equity 22+,A2s+ AKo --board 2h7h9cTd --threads 1;"
         "equity AhKh QQ T9s --samples 2000 --threads 1; equity AhKh QsQd --rules short --board 7h9cTd --threads 1;"
         "range 22+,A2s+:0.5 --board AhKd2c; abstract --list; abstract tiny --estimate --threads 1; cache"),
    Case("blueprint", f"{TRAIN_LEDUC}; match run always-call --hands 200 --seed 1 --histories hands.log > match.json;"
         "lbr run --hands 40 > lbr.json; cost run --hands 8; !litmus always-call --game kuhn; hands hands.log --game leduc;"
         "ledger --add match.json --add lbr.json --write page.md; model run hands.log; ship run --out shipped; show run;"
         "model run hands.log --player always-call --fit l2 --out model; exploitability run --bound --boards 20;"
         "act run 'MATCHSTATE:0:0::Ks|'", files=LEDUC),
    Case("blueprint-exact", f"{TRAIN_LEDUC}; exploitability run --exact; match run random --hands 100 --aivat --threads 1"
         " --histories hands.log; review hands.log --agent run=run --threads 1", files=LEDUC),
    Case("holdem-match", "match default always-call --hands 40 --seed 1 --histories hands.phhs; hands hands.phhs;"
         "match always-call random always-raise --hands 100; lbr always-call --hands 20 --actions fc --from turn"),
    Case("endgames", "endgames build library --agent default --count 2; endgames show library;"
         "endgames query library --board QsJh2h7d7c --oop AA,KK,T9s --ip QQ,JJ,98s"),
    Case("continuous", "continuous river.toml; continuous river.toml --models m.toml; continuous bids.toml", files=SIGNALS),
    Case("tournaments", "icm --stacks 2,1,1 --payouts 50,30,20; tournament --estimate; tournament --small --estimate;"
         "team kuhn:players=3 --adversary 0 --time 1s"),
    Case("reproduce", "; ".join(f"reproduce {name}" for name in ("essay-kuhn-trace", "essay-rps", "emd-example", "rpst",
         "tartanian7-sizes", "translation-clairvoyance", "propositions", "pcs-bound", "--list"))),
    Case("old-artefacts", "show run; match run random --hands 40; show leduc; exploitability leduc; show spot b120;"
         "solve leduc --iterations 60 --out leduc --resume", files=LEDUC,
         prepared=f"{TRAIN_LEDUC}; solve leduc --iterations 40 --out leduc; {RIVER} --iterations 50 --out spot"),
    Case("bad-input", "!solve; !solve chess; !solve leduc --iterations -1; !solve leduc --schedule dfcr;"
         "!solve kuhn --method no; !solve spot --board TdTd6h --pot 2 --stack 2 --bets a --oop AA --ip KK;"
         "!show nowhere; !equity AhKh AhQd; !range 72x; !train nothing.toml; !match default; !act default MATCHSTATE:0;"
         "!exploitability .; !endgames query nowhere --board QsJh2h7d7c --oop AA --ip KK; !icm --stacks 2,x --payouts 1;"
         "!reproduce nothing; !convert kuhn --out kuhn.txt; !nosuchcommand; !solve leduc --nosuchflag"),
    Case("names", "list-flags; list-names; use-library"),
    Case("pushfold", "charts push:10,10; pushfold --stacks 10,10 --until 1; pushfold --stacks 8,12 --until 1", slow=True),
    Case("abstract", "abstract cards.toml --out cards --threads 1; features preflop --threads 1 --out features;"
         f"train demo --abstraction cards --iterations 5000 {TRAIN} --out a", files={"cards.toml": COARSE_CARDS}, slow=True),
    Case("review", "match default always-call --hands 4 --seed 1 --histories hands.phhs;"
         "review hands.phhs --player always-call --threads 1", slow=True),
]  # fmt: skip


def split_commands(text: str) -> list[str]:
    """Split the commands of a case, and ask for JSON where a command can print it."""
    steps = map(str.strip, text.split(";"))
    return [s if s in SCRIPTS or "--csv" in s else re.sub(" >|$", r" --json\g<0>", s, count=1) for s in steps]


class Outcome(NamedTuple):
    """What one command did."""

    code: Any
    output: str
    errors: str


@dataclass(frozen=True)
class Checkout:
    """A checkout, and the folder of its caches, results and outputs."""

    root: Path
    folder: Path

    def environment(self) -> dict[str, str]:
        """Build the environment: one thread, nothing shared with other checkouts or the user's caches."""
        hidden, cache = ("NUMBA", "PYTHON", "XDG", "RIVERBOAT"), self.folder / "cache"
        return {name: value for name, value in os.environ.items() if not name.startswith(hidden)} | {
            "PYTHONPATH": str(self.root / "src"), "PYTHONPYCACHEPREFIX": str(cache / "bytecode"), "PYTHONHASHSEED": "0",
            "HOME": str(cache / "home"), "XDG_CACHE_HOME": str(cache / "user"), "XDG_DATA_HOME": str(cache / "data"),
            "NUMBA_CACHE_DIR": str(cache / "code"), "COLUMNS": "80", "LC_ALL": "C.UTF-8", "MPLBACKEND": "agg",
            **{f"{library}_NUM_THREADS": "1" for library in ("NUMBA", "OMP", "OPENBLAS", "MKL")},
        }  # fmt: skip

    def work(self, case: Case) -> Path:
        """Return the folder where the commands of a case run."""
        return self.folder / "cases" / case.name

    def prepare(self, case: Case) -> None:
        """Make the folder of a case, with its input files."""
        shutil.rmtree(self.work(case), ignore_errors=True)
        self.work(case).mkdir(parents=True)
        for name, text in case.files.items():
            (self.work(case) / name).write_text(text, "utf-8")
        for name in case.examples:
            shutil.copy(self.root / "examples" / name, self.work(case))

    def run(self, case: Case, steps: list[str]) -> tuple[list[Outcome], float]:
        """Run commands in the folder of a case; return what each did, and the seconds that all took."""
        results, log = (self.folder / f"{case.name}.{kind}" for kind in ("json", "log"))
        results.unlink(missing_ok=True)
        project = tomllib.loads((self.root / "pyproject.toml").read_text("utf-8"))["project"]
        spec = {"entry": project["scripts"]["riverboat"], "source": str(self.root / "src"), "results": str(results),
                "steps": [step.lstrip("!") for step in steps], "scripts": SCRIPTS}  # fmt: skip
        command = [sys.executable, "-c", DRIVER, json.dumps(spec)]
        begin, environment = time.perf_counter(), self.environment() | case.environment
        with log.open("w", encoding="utf-8") as out, contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(command, cwd=self.work(case), env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                           timeout=LIMIT, check=False)  # fmt: skip
        seconds = time.perf_counter() - begin
        done = [Outcome(*row) for row in json.loads(self.read(results) or "[]")]
        return done + [Outcome("none: the process ended", "", self.read(log))] * (len(steps) - len(done)), seconds

    def files(self, case: Case) -> dict[str, Any]:
        """Describe all files in the folder of a case: JSON by its values, everything else by its SHA-256."""
        found, inputs = dict[str, Any](), {Path(name).name for name in case.examples}
        for path in sorted(self.work(case).rglob("*")):
            name = str(path.relative_to(self.work(case)))
            if path.suffix in (".json", ".jsonl"):
                found[name] = parse(self.read(path))
            elif path.is_file() and name not in inputs:
                binary = path.suffix in (".npy", ".npz")
                content = path.read_bytes() if binary else self.read(path).encode("utf-8", "surrogateescape")
                found[name] = f"SHA-256:{hashlib.sha256(content).hexdigest()}"
        return found

    def read(self, path: Path) -> str:
        """Read a text, empty if there is none, with placeholders for the paths that differ between checkouts."""
        text = path.read_text("utf-8", errors="surrogateescape") if path.exists() else ""
        return text.replace(str(self.folder), "<folder>").replace(str(self.root), "<checkout>")


def parse(text: str) -> Any:
    """Parse a JSON document, or one per line; any other text stays as it is."""
    for read in (json.loads, lambda text: [json.loads(line) for line in text.splitlines()]):
        with contextlib.suppress(ValueError):
            return read(text)
    return text


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the values of a JSON document with the paths of their keys; those that vary from run to run as `(varies)`."""
    if isinstance(value, dict) and (value or not path):
        for key, inner in value.items():
            inside = f"{path}.{key}" if path else key
            size = key == "bytes" and not {"sha256", "zipped"}.isdisjoint(value)  # of a file that is compared itself
            yield from [(inside, "(varies)")] if size or re.search(VARYING, key) else leaves(inner, inside)
    elif isinstance(value, list) and value:
        for k, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{k}]")
    else:  # floats as their shortest exact text: equal texts are equal bits
        yield path, "(varies)" if re.search(VARYING_PATH, path) else json.dumps(value, ensure_ascii=False)


def differences(old: Any, new: Any, ignore_wording: bool) -> list[str]:
    """List the keys of two JSON documents whose values differ, with both values."""
    first, second = dict(leaves(old)), dict(leaves(new))
    pairs = {path: (first.get(path, "(absent)"), second.get(path, "(absent)")) for path in first | second}
    sentences = {path for path, pair in pairs.items() if all(text[0] == '"' and " " in text for text in pair)}
    ignored = sentences if ignore_wording else set()
    return [f"{path}: {x[:120]} / {y[:120]}" for path, (x, y) in pairs.items() if x != y and path not in ignored]


def compare(case: Case, old: Checkout, new: Checkout, options: argparse.Namespace) -> tuple[list[str], list[float]]:
    """Run a case in both checkouts; return what differs, and the seconds that each took."""
    old.prepare(case)
    new.prepare(case)
    found = []
    if case.prepared:
        made, _ = old.run(case, split_commands(case.prepared))
        found += [f"command to prepare: exit code {done.code}: {done.errors[-300:]!r}" for done in made if done.code]
        shutil.copytree(old.work(case), new.work(case), dirs_exist_ok=True)
    steps = split_commands(case.commands)
    with ThreadPoolExecutor(options.jobs) as pool:
        (first, *seconds), (second, *more) = pool.map(lambda checkout: checkout.run(case, steps), (old, new))
    for step, x, y in zip(steps, first, second, strict=True):
        if x.code != y.code:
            last = [(done.errors.strip().splitlines() or [""])[-1][:200] for done in (x, y)]
            found.append(f"{step[:70]}: exit code {x.code} / {y.code}: {last[0]!r} / {last[1]!r}")
        elif (x.code == 0) == step.startswith("!") or x.code == 70 or not isinstance(x.code, int):
            found.append(f"{step[:70]}: exit code {x.code} in both, not expected: {x.errors[-300:]!r}")
        elif "--csv" not in step:
            gaps = differences(parse(x.output), parse(y.output), options.ignore_wording)
            found += [f"{step[:70]}: {gap}" for gap in gaps]
    found += [f"file {gap}" for gap in differences(old.files(case), new.files(case), options.ignore_wording)]
    return found, seconds + more


def main() -> int:
    """Compare the checkouts case by case; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="*", type=Path, metavar="OLD NEW", help="folders of the two checkouts")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="run these cases alone")
    parser.add_argument("--slow", action="store_true", help="run slow cases too")
    parser.add_argument("--list", action="store_true", help="print the cases with their commands")
    parser.add_argument("--jobs", type=int, default=2, choices=(1, 2), help="2 (default): both checkouts in parallel")
    parser.add_argument("--ignore-wording", action="store_true", help="ignore JSON values that are sentences in both")
    parser.add_argument("--folder", type=Path, help="work here, keep all files, and use the compiled code found here")
    options = parser.parse_args()
    if options.list:
        for case in CASES:
            steps = "".join(f"    {step}\n" for step in split_commands(case.commands))
            sys.stdout.write(f"{case.name}{' (slow)' if case.slow else ''}\n{steps}")
        return 0
    if [(path / "src" / "riverboat").is_dir() for path in options.checkouts] != [True, True]:
        parser.error("name two folders with src/riverboat, OLD and NEW")
    if unknown := set(options.only) - {case.name for case in CASES}:
        parser.error(f"unknown cases {', '.join(sorted(unknown))}; --list prints all")
    chosen = [case for case in CASES if (case.name in options.only if options.only else options.slow or not case.slow)]
    failed, begin = 0, time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="compare-checkouts-") as temporary:
        base = (options.folder or Path(temporary)).resolve()
        old, new = (Checkout(path.resolve(), base / f"checkout-{k}") for k, path in enumerate(options.checkouts))
        for case in chosen:
            found, (x, y) = compare(case, old, new, options)
            failed += bool(found)
            verdict = f"DIFFERENT ({len(found)})" if found else "equal"
            line = f"{case.name:17} {verdict:15} {x:6.1f} s old {y:6.1f} s new"
            sys.stdout.write("\n    ".join([line, *found[:SHOWN]]) + "\n")
            sys.stdout.flush()
            for checkout in () if options.folder else (old, new):
                shutil.rmtree(checkout.work(case))
    sys.stdout.write(f"{len(chosen) - failed} of {len(chosen)} cases equal, {time.perf_counter() - begin:.0f} s\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
