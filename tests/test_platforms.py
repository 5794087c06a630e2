"""What is done otherwise on Windows and macOS, walked through on whatever system runs the tests."""

from __future__ import annotations

import ast
import errno
import inspect
import io
import mmap
import os
import re
import signal
import struct
import subprocess
import sys
import types as python_types
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from llvmlite import binding
from numba import njit, types

import riverboat
from riverboat.acpc import client
from riverboat.cli import exit_codes, main, signals, terminal
from riverboat.compiled import hugepages, jit
from riverboat.compiled.simd import fetch, keep, larger, load, store
from riverboat.core import atomic_io, resources
from riverboat.core.errors import DiskError, InputError
from riverboat.core.formatting import quote, split_command
from riverboat.web.jobs import process

ROOT = Path(__file__).parents[1]
SOURCE = Path(riverboat.__file__).parent
CODE = import_module(
    "riverboat.compiled.code_files" if (SOURCE / "code_files.py").is_file() else "riverboat.compiled.jit"
)
ABSENT = {"fcntl", "resource", "pwd", "grp", "pty", "termios", "tty", "syslog", "msvcrt", "winreg", "winsound"}
SYSTEM = {"os", "signal", "socket", "mmap", "resource", "fcntl", "msvcrt", "select", "subprocess", "multiprocessing"}

# --- the source ---------------------------------------------------------------------------------------


@cache
def parsed() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}


def imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    return {(node.module or "").partition(".")[0]} if isinstance(node, ast.ImportFrom) else set()


def test_modules_of_one_system_are_imported_behind_a_guard() -> None:
    """In a function, or under a condition or `try`: not when the module is loaded, whatever the system."""
    bare = [
        f"{path}: {name}" for path, tree in parsed().items() for node in tree.body for name in imported(node) & ABSENT
    ]
    assert bare == []


def text_calls(tree: ast.Module) -> Iterator[ast.Call]:
    """Find calls that read or write text as the system encodes it."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or {"encoding"} & {keyword.arg for keyword in node.keywords}:
            continue
        owner = getattr(getattr(node.func, "value", None), "id", "")
        name = getattr(node.func, "attr", "") or f"builtin {getattr(node.func, 'id', '')}"
        place = 1 if name == "builtin open" else 0
        mode = node.args[place].value if len(node.args) > place and isinstance(node.args[place], ast.Constant) else None
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        as_text = given.get("text", given.get("universal_newlines"))
        if (
            (name in ("read_text", "write_text") and len(node.args) == (name == "write_text") and owner != "texts")
            or (name == "builtin open" and not (isinstance(mode, str) and "b" in mode))
            or (name == "open" and isinstance(mode, str) and re.fullmatch("[rwax]?[+t]?", mode))
            or (isinstance(as_text, ast.Constant) and as_text.value is True)
        ):
            yield node


def test_texts_are_read_and_written_with_an_encoding() -> None:
    """Windows would take the code page of its country: ruff sees only what it knows to be a path."""
    found = [f"{path}:{call.lineno}" for path, tree in parsed().items() for call in text_calls(tree)]
    assert found == []


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("path.read_text()", 1),
        ("path.read_text(encoding='utf-8')", 0),
        ("path.read_text('utf-8', 'replace')", 0),
        ("path.write_text('x')", 1),
        ("path.write_text('x', 'utf-8')", 0),
        ("disk.write_text(path, 'x')", 0),
        ("open('x')", 1),
        ("open('x', 'rb')", 0),
        ("path.open('a')", 1),
        ("path.open('wb')", 0),
        ("run([], text=True)", 1),
        ("run([], text=True, encoding='utf-8')", 0),
    ],
)
def test_the_search_for_texts_finds_them(line: str, count: int) -> None:
    assert len(list(text_calls(ast.parse(line)))) == count


@pytest.mark.parametrize("platform", ["win32", pytest.param("darwin", marks=pytest.mark.slow)])
def test_names_of_other_systems_are_used_behind_a_guard(platform: str, tmp_path: Path) -> None:
    """mypy knows what Python has where: `os.nice`, `os.sysconf` or `fcntl.flock` are no names of Windows.

    Only modules that speak with the system are looked at, each alone; on every platform `make types` sees the whole.
    """
    config = tmp_path / "mypy.ini"
    skipped = "".join(f"[mypy-{name}.*]\nfollow_imports = skip\n" for name in ("riverboat", "numpy", "rich", "typer"))
    config.write_text(f"[mypy]\nignore_missing_imports = true\n{skipped}", encoding="utf-8")
    some = [str(p) for p, tree in parsed().items() if any(imported(node) & SYSTEM for node in ast.walk(tree))]
    line = ["-m", "mypy", "--config-file", str(config), "--cache-dir", os.devnull, "--platform", platform, *some]
    printed = subprocess.run(
        [sys.executable, *line], capture_output=True, text=True, encoding="utf-8", check=False
    ).stdout
    found = re.findall(r"^(.*):(\d+): error: (.* has no attribute .*)$", printed, re.MULTILINE)
    assert re.search(r"checked (\d+) source files", printed) or found == []
    assert [place for place in found if not guarded(Path(place[0]), int(place[1]))] == []


def guarded(path: Path, line: int) -> bool:
    """Tell whether a line uses a module that is None where it cannot be imported, which mypy does not follow."""
    text = path.read_text(encoding="utf-8")
    missing = re.findall(r"^ +(\w+) = None", text, re.MULTILINE)
    return any(re.search(rf"\b{name}\.", text.splitlines()[line - 1]) for name in missing)


def test_files_have_the_same_bytes_on_every_system() -> None:
    """Checksums of shipped agents would not hold for files with line ends of Windows."""
    assert re.search(r"^\* text=auto eol=lf$", (ROOT / ".gitattributes").read_text(encoding="utf-8"), re.MULTILINE)


# --- files on Windows ---------------------------------------------------------------------------------


def is_open(path: Path) -> bool:
    """Tell whether this process has a file open."""
    for handle in Path("/proc/self/fd").iterdir():
        try:
            if os.path.samestat(os.fstat(int(handle.name)), path.stat()):
                return True
        except OSError:
            continue
    return False


def refuse_open(method):
    """Let a method of Path fail as on Windows: an open file is neither removed nor replaced."""

    def refusing(self, *given, **options):
        for path in (self, *given):
            if isinstance(path, Path) and path.is_file() and is_open(path):
                raise PermissionError(errno.EACCES, "Access is denied", str(path))
        return method(self, *given, **options)

    return refusing


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate Windows as far as files see it: locks of handles, at a position, and no hands on open files."""
    import fcntl

    def locking(handle: int, mode: int, count: int) -> None:
        assert mode == 2
        try:  # locks of open files, as those of Windows are; from where the handle stands
            fcntl.fcntl(handle, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_CUR, 0, count, 0))
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None

    fake = python_types.ModuleType("msvcrt")
    fake.locking, fake.LK_NBLCK = locking, 2  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "msvcrt", fake)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setattr(sys, "platform", "win32")
    for name in ("unlink", "replace", "rename"):
        monkeypatch.setattr(Path, name, refuse_open(getattr(Path, name)))


simulated = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Windows is simulated on Linux")


@simulated
@pytest.mark.usefixtures("windows")
def test_locks_of_windows(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with atomic_io.held(folder):
        assert atomic_io.is_held(folder)
        with pytest.raises(InputError, match=rf"process {os.getpid()} on "), atomic_io.held(folder):
            pass
        assert atomic_io.is_held(folder)  # who was refused takes nothing away
    assert not folder.exists()  # nothing was done there: neither lock nor folder is left
    with atomic_io.held(folder):
        (folder / "work").touch()
    assert [path.name for path in folder.iterdir()] == ["work"]
    assert not atomic_io.is_held(folder)


@simulated
@pytest.mark.usefixtures("windows")
def test_a_file_that_somebody_reads_is_replaced_when_he_has_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.json"
    atomic_io.write_text(path, "old")
    reader = path.open(encoding="utf-8")
    waits = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            reader.close()

    monkeypatch.setattr(atomic_io.clock, "sleep", sleep)
    atomic_io.write_text(path, "new")
    assert len(waits) == 3
    assert path.read_text(encoding="utf-8") == "new"


@simulated
@pytest.mark.usefixtures("windows")
def test_a_file_that_stays_open_is_an_error_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic_io, "PATIENCE", 0.02)
    path = tmp_path / "state.json"
    atomic_io.write_text(path, "old")
    with path.open(encoding="utf-8"), pytest.raises(DiskError, match=re.escape(str(path))):
        atomic_io.write_text(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["state.json"]


def test_elsewhere_nobody_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    calls = []

    def refused(self: Path, target: Path) -> None:
        calls.append(target)
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(PermissionError):
        atomic_io.replace(tmp_path / "a", tmp_path / "b")
    assert calls == [tmp_path / "b"]


@pytest.mark.parametrize(
    "text",
    [
        "bluff:2,2",
        "open_spiel:goofspiel(num_cards=4)",
        'a:b/c\\d|e?f*g"h<i>j',
        "..",
        "",
        "x" + chr(0),
        "a b\n",
        "kuhn.",
    ],
)
def test_names_of_runs_are_names_of_files_everywhere(text: str) -> None:
    name = atomic_io.file_name(text)
    assert name
    assert not set(name) & set('<>:"/\\|?*\0\n ')
    assert name[-1] not in ". "
    assert name[0] != "."


@pytest.mark.usefixtures("compiled_code_without_locks")
def test_compiled_code_without_locks(tmp_path: Path) -> None:
    files = CODE.CodeFiles(tmp_path, "m.f-1.py311", "0" * 16)
    with files.turn("signature") as mine:
        assert not mine  # others may compile the same at once
        files.save("key", "code")
    assert files.load("key") == "code"


@pytest.fixture
def compiled_code_without_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CODE, "fcntl", None)


# --- commands on Windows --------------------------------------------------------------------------------


def test_signals_that_windows_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "SIGHUP", raising=False)
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(signals.Interrupted), signals.raised():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before
    assert signals.Interrupted.last == 128 + signal.SIGTERM


@pytest.mark.skipif(hasattr(signal, "SIGBREAK"), reason="simulates what is there")
def test_signals_that_windows_has_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "SIGBREAK", signal.SIGUSR1, raising=False)
    with signals.noted() as came:
        assert came() is None
        signal.raise_signal(signal.SIGUSR1)
        assert came() is not None


def test_jobs_where_there_is_no_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "nice", raising=False)
    monkeypatch.setattr(sys, "argv", ["job", "solve", "kuhn"])
    monkeypatch.setattr(process, "_listen", lambda: None)
    called: list[list[str]] = []
    monkeypatch.setattr(main, "main", called.append)
    process.main()
    assert called == [["solve", "kuhn"]]


@pytest.mark.parametrize(
    ("platform", "error", "left"),
    [
        ("win32", OSError(errno.EINVAL, "Invalid argument"), True),
        ("win32", OSError(errno.EINVAL, "Invalid argument", "a file"), False),
        ("win32", OSError(errno.ENOSPC, "No space left on device"), False),
        ("linux", OSError(errno.EINVAL, "Invalid argument"), False),
        ("linux", BrokenPipeError(errno.EPIPE, "Broken pipe"), True),
        ("win32", ValueError("22"), False),
    ],
)
def test_a_reader_that_leaves(platform: str, error: Exception, left: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert exit_codes._reader_left(error) == left


@pytest.mark.parametrize("seconds", [0.0, 0.0004, 1.25, 4_000_000.0])
def test_limits_of_sockets(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Milliseconds in 32 bits on Windows, seconds and microseconds elsewhere; never zero, which means no limit."""
    monkeypatch.setattr(sys, "platform", "win32")
    (milliseconds,) = struct.unpack("<L", client._time(seconds))
    assert milliseconds >= 1
    assert milliseconds == pytest.approx(1000 * seconds, abs=1)
    monkeypatch.setattr(sys, "platform", "darwin")
    whole, micro = struct.unpack("ll", client._time(seconds))
    assert 0 < whole + micro / 1e6 == pytest.approx(seconds, abs=2e-6)


@pytest.mark.parametrize(
    ("platform", "command", "words"),
    [
        ("win32", r'"C:\my bots\run.exe" -x D:\a', [r"C:\my bots\run.exe", "-x", r"D:\a"]),
        ("linux", r"'my bots/run' -x a\ b", ["my bots/run", "-x", "a b"]),
    ],
)
def test_commands_are_split_as_the_shell_does(
    platform: str, command: str, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert split_command(command) == words
    assert split_command(" ".join(map(quote, words))) == words
    with pytest.raises(ValueError, match="quotation"):
        split_command('"open')


def test_pipes_get_utf8_whatever_the_code_page_is(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="cp1252", newline="")
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    terminal.use_utf8()
    out.write("≥ ♠ ─")
    out.flush()
    assert out.buffer.getvalue().decode("utf-8") == "≥ ♠ ─"


def test_a_terminal_shows_what_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="cp1252", newline="")
    monkeypatch.setattr(out, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stdout", out)
    terminal.use_utf8()
    out.write("± ♠")
    out.flush()
    assert out.buffer.getvalue().decode("cp1252") == "± ?"


@pytest.mark.parametrize(("encoding", "dot"), [("", "·"), ("ascii", "?"), ("cp1252", "\N{REPLACEMENT CHARACTER}")])
def test_a_command_prints_where_the_system_has_no_utf8(encoding: str, dot: str) -> None:
    """A grid has a ·, which ended the command with an error."""
    plain = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": encoding}
    line = [sys.executable, "-m", "riverboat.cli.main", "range", "AA"]
    done = subprocess.run(line, capture_output=True, check=False, env=os.environ | plain)
    assert done.returncode == 0, done.stderr
    assert dot in done.stdout.decode("utf-8", errors="replace")


# --- memory -----------------------------------------------------------------------------------------------


def test_peak_memory_is_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """ru_maxrss counts bytes on macOS, KiB on other systems, and there is none on Windows."""
    fake = python_types.ModuleType("resource")
    fake.RUSAGE_SELF = 0  # type: ignore[attr-defined]
    fake.getrusage = lambda who: python_types.SimpleNamespace(ru_maxrss=4096)  # type: ignore[attr-defined]
    for platform, module, peak in (("darwin", fake, 4096), ("linux", fake, 4 << 20), ("win32", None, None)):
        monkeypatch.setitem(sys.modules, "resource", module)
        monkeypatch.setattr(sys, "platform", platform)
        assert resources.peak_memory() == peak


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
def test_the_peak_is_at_least_what_is_held() -> None:
    held, peak = resources.resident_memory(), resources.peak_memory()
    assert held is not None
    assert peak is not None
    assert 0.5 * held < peak < 100 * held
    assert resources.resident_memory(os.getpid()) == pytest.approx(held, rel=0.2)


def test_memory_where_the_system_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(path: str, *_: object, **__: object) -> None:
        raise FileNotFoundError(errno.ENOENT, "No such file", path)

    monkeypatch.setattr(resources, "open", missing, raising=False)
    monkeypatch.setattr(resources, "_seen", (-1.0, None))
    assert resources.available_memory() is None
    assert resources.resident_memory() is None


@pytest.mark.parametrize("platform", ["darwin", "win32", "linux"])
def test_large_arrays_without_large_pages(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other systems have none, and a Linux kernel may have been built without."""

    class Refusing(mmap.mmap):
        def madvise(self, *_: int) -> None:
            raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(mmap, "mmap", Refusing)
    array = hugepages.zeros(1 << 20, np.float64)
    assert array.shape == (1 << 20,)
    assert not array.any()
    array[-1] = 1.0


# --- vectors of other processors ----------------------------------------------------------------------------

U = np.uint64


def clipped_sum(table, other, out, some):
    """Read two rows of a table, the last under a mask, and write the larger of their sum and the first."""
    x = fetch(table, U(0), U(some))
    store(out, U(0), larger(x + load(other, U(0)), x))
    keep(table, U(0), load(out, U(0)), U(some), U(1))


def vector_code(triple: str, processor: str, features: str = "") -> str:
    """Compile the loop for another processor, to assembly."""
    row = types.float32[::1]
    loop = njit(types.void(row, row, row, types.int64), no_cpython_wrapper=True, **jit.OPTIONS)(clipped_sum)
    (text,) = loop.inspect_llvm().values()
    text = re.sub(r'^target (triple|datalayout) = ".*"$', "", text, flags=re.MULTILINE)
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    machine = binding.Target.from_triple(triple).create_target_machine(cpu=processor, features=features, opt=3)
    module = binding.parse_assembly(f'target triple = "{triple}"\n{text}')
    module.verify()
    return str(machine.emit_assembly(module))


@pytest.mark.parametrize(
    ("triple", "processor", "features", "instruction"),
    [
        ("arm64-apple-darwin", "apple-m1", "", r"fadd(\.4s\s|\s+v\d+\.4s)"),  # NEON: 128 bits
        ("x86_64-pc-windows-msvc", "x86-64", "", r"\baddps\s+.*%?xmm"),  # SSE2: 128 bits, no masks
        ("x86_64-pc-windows-msvc", "haswell", "", r"\bvaddps\s+.*%?ymm"),  # AVX2: 256 bits
        ("x86_64-unknown-linux-gnu", "skylake-avx512", "+prefer-256-bit", r"\bvaddps\s+.*%?[yz]mm"),
    ],
)
def test_vectors_fit_the_registers_of_other_processors(
    triple: str, processor: str, features: str, instruction: str
) -> None:
    """LLVM cuts sixteen numbers into the registers that are there, and does without masks where there are none."""
    assert len(re.findall(instruction, vector_code(triple, processor, features))) >= (4 if "4s" in instruction else 1)


def run_generic(tmp_path: Path, *line: str) -> subprocess.CompletedProcess[str]:
    """Run Python with loops for a processor without AVX: registers of 128 bits, as NEON has."""
    plain = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(tmp_path)}
    return subprocess.run(
        [sys.executable, *line],
        capture_output=True, text=True, encoding="utf-8", check=False, env=os.environ | plain, cwd=ROOT,
    )  # fmt: skip


def test_loops_run_in_registers_of_128_bits(tmp_path: Path) -> None:
    code = (
        "import numpy as np\n"
        "from numba import njit\n"
        "from riverboat.compiled.simd import fetch, keep, larger, load, store\n"
        f"U = np.uint64\n{inspect.getsource(clipped_sum)}"
        "table, other, out = np.arange(3, dtype=np.float32), np.full(16, -1, np.float32), np.zeros(16, np.float32)\n"
        "other[2] = 5\n"
        "njit(clipped_sum)(table, other, out, 3)\n"
        "print(table.tolist(), out[3:].tolist())\n"
    )
    done = run_generic(tmp_path, "-c", code)
    assert done.stdout == f"{[0.0, 1.0, 7.0]} {[0.0] * 13}\n", done.stderr


@pytest.mark.slow
def test_all_of_lanes_in_registers_of_128_bits(tmp_path: Path) -> None:
    done = run_generic(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_lanes.py")
    assert done.returncode == 0, done.stdout[-2000:]
