"""Code for Windows and macOS, tested on any system."""

from __future__ import annotations

import ast
import errno
import inspect
import io
import os
import re
import signal
import struct
import subprocess
import sys
import types as python_types
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from llvmlite import binding
from numba import njit, types

import riverboat
from riverboat.acpc import client
from riverboat.cli import main, terminal, termination
from riverboat.compiled import code_cache, jit
from riverboat.compiled.simd import load, load_masked, maximum, store, store_masked
from riverboat.core import files as core_files
from riverboat.core import resources
from riverboat.core.errors import DiskError, InputError
from riverboat.core.formatting import shell_quote, split_command
from riverboat.web.jobs import process

ROOT = Path(__file__).parents[1]
SOURCE = Path(riverboat.__file__).parent
ABSENT = {"fcntl", "resource", "pwd", "grp", "pty", "termios", "tty", "syslog", "msvcrt", "winreg", "winsound"}
SYSTEM = {"os", "signal", "socket", "mmap", "resource", "fcntl", "msvcrt", "select", "subprocess", "multiprocessing"}

# --- source ---------------------------------------------------------------------------------------


@cache
def parsed() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}


def imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    return {(node.module or "").partition(".")[0]} if isinstance(node, ast.ImportFrom) else set()


def test_platform_modules_are_imported_conditionally() -> None:
    """In a function, or under a condition or `try`: not unconditionally when the module is loaded."""
    bare = [
        f"{path}: {name}" for path, tree in parsed().items() for node in tree.body for name in imported(node) & ABSENT
    ]
    assert bare == []


def text_calls(tree: ast.Module) -> Iterator[ast.Call]:
    """Find calls that read or write text without an explicit encoding."""
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


def test_text_files_have_an_encoding() -> None:
    """Windows would use its local code page; ruff only checks values known to be paths."""
    result = [f"{path}:{call.lineno}" for path, tree in parsed().items() for call in text_calls(tree)]
    assert result == []


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
def test_text_calls_are_found(line: str, count: int) -> None:
    assert len(list(text_calls(ast.parse(line)))) == count


@pytest.mark.parametrize("platform", ["win32", pytest.param("darwin", marks=pytest.mark.slow)])
def test_platform_names_are_used_conditionally(platform: str, tmp_path: Path) -> None:
    """mypy knows the names of each platform: `os.nice`, `os.sysconf` or `fcntl.flock` do not exist on Windows.

    Only modules that use the operating system are checked, each alone; `make types` checks everything for every
    platform.
    """
    config = tmp_path / "mypy.ini"
    skipped = "".join(f"[mypy-{name}.*]\nfollow_imports = skip\n" for name in ("riverboat", "numpy", "rich", "typer"))
    config.write_text(f"[mypy]\nignore_missing_imports = true\n{skipped}", encoding="utf-8")
    some = [str(p) for p, tree in parsed().items() if any(imported(node) & SYSTEM for node in ast.walk(tree))]
    line = ["-m", "mypy", "--config-file", str(config), "--cache-dir", os.devnull, "--platform", platform, *some]
    printed = subprocess.run(
        [sys.executable, *line], capture_output=True, text=True, encoding="utf-8", check=False
    ).stdout
    result = re.findall(r"^(.*):(\d+): error: (.* has no attribute .*)$", printed, re.MULTILINE)
    assert re.search(r"checked (\d+) source files", printed) or result == []
    assert [place for place in result if not guarded(Path(place[0]), int(place[1]))] == []


def guarded(path: Path, line: int) -> bool:
    """Whether a line uses a module that is None if it cannot be imported, which mypy does not follow."""
    text = path.read_text(encoding="utf-8")
    missing = re.findall(r"^ +(\w+) = None", text, re.MULTILINE)
    return any(re.search(rf"\b{name}\.", text.splitlines()[line - 1]) for name in missing)


def test_files_have_the_same_bytes_on_every_system() -> None:
    """Checksums of shipped agents would fail with Windows line endings."""
    assert re.search(r"^\* text=auto eol=lf$", (ROOT / ".gitattributes").read_text(encoding="utf-8"), re.MULTILINE)


# --- files on Windows ---------------------------------------------------------------------------------


def is_open(path: Path) -> bool:
    """Whether this process has a file open."""
    for handle in Path("/proc/self/fd").iterdir():
        try:
            if os.path.samestat(os.fstat(int(handle.name)), path.stat()):
                return True
        except OSError:
            continue
    return False


def refuse_open(method):
    """Make a method of Path fail as on Windows: open files are neither removed nor replaced."""

    def refusing(self, *given, **options):
        for path in (self, *given):
            if isinstance(path, Path) and path.is_file() and is_open(path):
                raise PermissionError(errno.EACCES, "Access is denied", str(path))
        return method(self, *given, **options)

    return refusing


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate Windows file semantics: locks of handles, at a position, and no changes to open files."""
    import fcntl

    def locking(handle: int, mode: int, count: int) -> None:
        assert mode == 2
        try:  # locks of open files, as on Windows, from the position of the handle
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
    with core_files.folder_lock(folder):
        assert core_files.is_locked(folder)
        with pytest.raises(InputError, match=rf"process {os.getpid()} on "), core_files.folder_lock(folder):
            pass
        assert core_files.is_locked(folder)  # a rejected process removes nothing
    assert not folder.exists()  # no work was done: neither lock nor folder remains
    with core_files.folder_lock(folder):
        (folder / "work").touch()
    assert [path.name for path in folder.iterdir()] == ["work"]
    assert not core_files.is_locked(folder)


@simulated
@pytest.mark.usefixtures("windows")
def test_open_file_is_replaced_after_it_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.json"
    core_files.write_text(path, "old")
    reader = path.open(encoding="utf-8")
    waits = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            reader.close()

    monkeypatch.setattr(core_files.clock, "sleep", sleep)
    core_files.write_text(path, "new")
    assert len(waits) == 3
    assert path.read_text(encoding="utf-8") == "new"


@simulated
@pytest.mark.usefixtures("windows")
def test_file_that_stays_open_is_an_error_with_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core_files, "REPLACE_TIMEOUT", 0.02)
    path = tmp_path / "state.json"
    core_files.write_text(path, "old")
    with path.open(encoding="utf-8"), pytest.raises(DiskError, match=re.escape(str(path))):
        core_files.write_text(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["state.json"]


def test_other_systems_do_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    calls = []

    def refused(self: Path, target: Path) -> None:
        calls.append(target)
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(PermissionError):
        core_files.replace(tmp_path / "a", tmp_path / "b")
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
def test_run_names_are_valid_file_names_everywhere(text: str) -> None:
    name = core_files.safe_file_name(text)
    assert name
    assert not set(name) & set('<>:"/\\|?*\0\n ')
    assert name[-1] not in ". "
    assert name[0] != "."


@pytest.mark.usefixtures("compiled_code_without_locks")
def test_compiled_code_without_locks(tmp_path: Path) -> None:
    files = code_cache.CodeFiles(tmp_path, "m.f-1.py311", "0" * 16)
    with files.compile_lock("signature") as own:
        assert not own  # other processes may compile the same code at once
        files.save("key", "code")
    assert files.load("key") == "code"


@pytest.fixture
def compiled_code_without_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_cache, "fcntl", None)


# --- commands on Windows --------------------------------------------------------------------------------


def test_signals_missing_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "SIGHUP", raising=False)
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(termination.Interrupted), termination.raise_on_signal():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before
    assert termination.Interrupted.last_exit_code == 128 + signal.SIGTERM


@pytest.mark.skipif(hasattr(signal, "SIGBREAK"), reason="simulates what is there")
def test_signals_only_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "SIGBREAK", signal.SIGUSR1, raising=False)
    with termination.defer_signals() as came:
        assert came() is None
        signal.raise_signal(signal.SIGUSR1)
        assert came() is not None


def test_jobs_without_priorities(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "nice", raising=False)
    monkeypatch.setattr(sys, "argv", ["job", "solve", "kuhn"])
    monkeypatch.setattr(process, "_interrupt_when_closed", lambda: None)
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
def test_closed_pipe(platform: str, error: Exception, left: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert termination._is_broken_pipe(error) == left


@pytest.mark.parametrize("seconds", [0.0, 0.0004, 1.25, 4_000_000.0])
def test_socket_timeouts(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Milliseconds in 32 bits on Windows, seconds and microseconds elsewhere; never zero, which means no limit."""
    monkeypatch.setattr(sys, "platform", "win32")
    (milliseconds,) = struct.unpack("<L", client._pack_timeval(seconds))
    assert milliseconds >= 1
    assert milliseconds == pytest.approx(1000 * seconds, abs=1)
    monkeypatch.setattr(sys, "platform", "darwin")
    whole, micro = struct.unpack("ll", client._pack_timeval(seconds))
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
    assert split_command(" ".join(map(shell_quote, words))) == words
    with pytest.raises(ValueError, match="quotation"):
        split_command('"open')


def test_pipes_get_utf8_with_any_code_page(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="cp1252", newline="")
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    terminal.use_utf8()
    out.write("≥ ♠ ─")
    out.flush()
    assert out.buffer.getvalue().decode("utf-8") == "≥ ♠ ─"


def test_terminal_replaces_unencodable_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="cp1252", newline="")
    monkeypatch.setattr(out, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stdout", out)
    terminal.use_utf8()
    out.write("± ♠")
    out.flush()
    assert out.buffer.getvalue().decode("cp1252") == "± ?"


@pytest.mark.parametrize(("encoding", "dot"), [("", "·"), ("ascii", "?"), ("cp1252", "\N{REPLACEMENT CHARACTER}")])
def test_command_prints_without_utf8(encoding: str, dot: str) -> None:
    """A grid contains a ·, which once ended the command with an error."""
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
def test_peak_memory_includes_held_memory() -> None:
    held, peak = resources.resident_memory(), resources.peak_memory()
    assert held is not None
    assert peak is not None
    assert 0.5 * held < peak < 100 * held
    assert resources.resident_memory(os.getpid()) == pytest.approx(held, rel=0.2)


def test_unknown_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(path: str, *_: object, **__: object) -> None:
        raise FileNotFoundError(errno.ENOENT, "No such file", path)

    monkeypatch.setattr(resources, "open", missing, raising=False)
    monkeypatch.setattr(resources, "_read_stat", lambda *_: None)
    monkeypatch.setattr(resources, "_last_reading", (-1.0, None))
    assert resources.available_memory() is None
    assert resources.resident_memory() is None


# --- SIMD on other processors ----------------------------------------------------------------------------

U = np.uint64


def clipped_sum(table, other, out, some):
    """Read two rows of a table, the last under a mask, and write the larger of their sum and the first."""
    x = load_masked(table, U(0), U(some))
    store(out, U(0), maximum(x + load(other, U(0)), x))
    store_masked(table, U(0), load(out, U(0)), U(some), U(1))


def vector_code(triple: str, processor: str, features: str = "") -> str:
    """Compile the kernel for another processor, to assembly."""
    row = types.float32[::1]
    loop = njit(types.void(row, row, row, types.int64), no_cpython_wrapper=True, **jit.KERNEL_OPTIONS)(clipped_sum)
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
    """LLVM splits vectors of sixteen numbers into the available registers, and emulates masks if needed."""
    assert len(re.findall(instruction, vector_code(triple, processor, features))) >= (4 if "4s" in instruction else 1)


def run_generic(tmp_path: Path, *line: str) -> subprocess.CompletedProcess[str]:
    """Run Python with kernels for a processor without AVX: registers of 128 bits, as NEON has."""
    plain = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(tmp_path)}
    return subprocess.run(
        [sys.executable, *line],
        capture_output=True, text=True, encoding="utf-8", check=False, env=os.environ | plain, cwd=ROOT,
    )  # fmt: skip


def test_kernels_run_in_registers_of_128_bits(tmp_path: Path) -> None:
    code = (
        "import numpy as np\n"
        "from numba import njit\n"
        "from riverboat.compiled.simd import load, load_masked, maximum, store, store_masked\n"
        f"U = np.uint64\n{inspect.getsource(clipped_sum)}"
        "table, other, out = np.arange(3, dtype=np.float32), np.full(16, -1, np.float32), np.zeros(16, np.float32)\n"
        "other[2] = 5\n"
        "njit(clipped_sum)(table, other, out, 3)\n"
        "print(table.tolist(), out[3:].tolist())\n"
    )
    done = run_generic(tmp_path, "-c", code)
    assert done.stdout == f"{[0.0, 1.0, 7.0]} {[0.0] * 13}\n", done.stderr


@pytest.mark.slow
def test_simd_module_in_registers_of_128_bits(tmp_path: Path) -> None:
    done = run_generic(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/compiled/test_simd.py")
    assert done.returncode == 0, done.stdout[-2000:]
