"""Atomic writes, folder locks and bounded reading of files, with errors that name the path.

    with atomic_write(path) as draft:     # a temporary name in the same folder, renamed when the block ends
        figure.savefig(draft)
    with folder_lock(folder):             # InputError while another process writes there
        ...

Text and TOML files of users are read here as well: with size limits, and whatever byte-order mark their editor wrote.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import socket
import sys
import threading
import time as clock
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO, TypeVar, cast

from riverboat.core import validation
from riverboat.core.errors import DiskError, InputError, located_errors

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

T = TypeVar("T")
LOCK_FILE = ".lock"
IMAGE_SUFFIXES = (".png", ".svg", ".pdf", ".jpg", ".jpeg")
REPLACE_TIMEOUT = 2.0  # seconds to wait on Windows for a process that reads the file
_LOCK_OFFSET = 1 << 30  # the byte that Windows locks: behind the content, so that others can read it


_OS_ERROR_REASONS = {
    errno.ENOSPC: "no space left on device: the disk is full; free some space, or choose another folder",
    errno.EDQUOT: "disk quota exceeded; free some space, or choose another folder",
    errno.EFBIG: "file too large for this disk, or for the limit on files (ulimit -f); choose another folder",
    errno.EROFS: "read-only file system; choose another folder",
    errno.EMFILE: "too many open files; raise the limit (ulimit -n), or do less at once",
    errno.ENFILE: "too many open files in the whole system; close some programs",
}


def os_error_reason(error: OSError) -> str:
    """Describe the reason of an OSError, and the way out where there is one."""
    reason = _OS_ERROR_REASONS.get(error.errno or 0)
    return reason or (error.strerror or str(error) or "cannot be used").lower()


@contextlib.contextmanager
def disk_errors(path: str | Path) -> Iterator[None]:
    """Turn OSErrors inside the block into DiskErrors that name the path."""
    try:
        yield
    except DiskError:
        raise
    except OSError as error:
        raise DiskError(f"{path}: {os_error_reason(error)}") from error


def sync_file(path: Path) -> None:
    """Flush a file to the disk before a name points to it."""
    if sys.platform == "win32":  # Windows flushes only files that are open for writing
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace(source: Path, target: Path) -> None:
    """Rename a file or folder, replacing an existing one; on Windows wait while another process reads the target."""
    deadline = clock.monotonic() + REPLACE_TIMEOUT
    while True:
        try:
            source.replace(target)
            return
        except PermissionError:
            if sys.platform != "win32" or clock.monotonic() >= deadline:
                raise
            clock.sleep(0.01)


def safe_file_name(text: str) -> str:
    """Turn any text into a valid file name on every system: Windows forbids `: ? * " < > |`."""
    return re.sub(r"[^\w.,=+()-]+", "-", text).strip(".-") or "unnamed"


@contextlib.contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Yield a draft file that replaces `path` when the block succeeds. Missing folders are created."""
    path = Path(path)
    with disk_errors(path):
        if path.is_dir():
            raise DiskError(f"{path}: is a folder, but must be a file")
        if path.exists() and not path.is_file():  # write to devices and pipes directly
            yield path
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        _discard_drafts(path)
        # Threads of a process may write the same file. Plots choose their format by the suffix: the draft has it too.
        draft = path.with_name(f".{path.stem}.{os.getpid()}-{threading.get_ident()}.tmp{path.suffix}")
        try:
            yield draft
            sync_file(draft)
            replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)


def _discard_drafts(path: Path) -> None:
    """Remove drafts of this file that killed processes have left."""
    prefix, suffix = f".{path.stem}.", f".tmp{path.suffix}"
    for other in path.parent.iterdir():
        writer = other.name.removeprefix(prefix).removesuffix(suffix)
        process = writer.partition("-")[0]
        if other.name == f"{prefix}{writer}{suffix}" and process.isdecimal() and not _is_alive(int(process)):
            other.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    """Return whether a process may still be running; True if that cannot be found out."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):  # of another user; or not a valid process number
        pass
    return True


def check_image_path(path: str | Path) -> Path:
    """Return the path if an image can be written there. Commands check this before they work for minutes."""
    if not isinstance(path, str) or path:  # an empty name has no suffix
        validation.check_path("path", path)
    path = Path(path)
    if path.suffix.lower() not in IMAGE_SUFFIXES:
        raise InputError(f"picture {path}: unknown kind {path.suffix!r}; use .png, .svg or .pdf")
    with disk_errors(path):
        if path.is_dir():
            raise DiskError(f"{path}: is a folder; name a picture in it, such as {path / 'picture.png'}")
    return path


@contextlib.contextmanager
def atomic_text_file(path: str | Path) -> Iterator[TextIO]:
    """Yield an open text file that replaces `path` when the block succeeds. Line ends are not translated."""
    with atomic_write(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        yield cast("TextIO", file)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic_text_file(path) as file:
        file.write(text)


def append_line(path: str | Path, line: str) -> None:
    """Append a line to a file in one write, so that readers and crashes never see half a line."""
    with disk_errors(path):
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        try:
            body = f"{line}\n".encode()
            size = os.fstat(handle).st_size
            if os.write(handle, body) != len(body):  # the disk is full: remove the partial line
                os.ftruncate(handle, size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(handle)


# --- folder locks ---


@contextlib.contextmanager
def folder_lock(folder: str | Path | None) -> Iterator[None]:
    """Lock a folder for this process during the block, creating it if it is missing; do nothing if it is None.

    Raises InputError if another process holds the lock. The lock is on a file in the folder and belongs to the open
    handle, so the operating system releases it when the process ends. File systems without locks ignore it.
    """
    if folder is None:
        yield
        return
    folder = Path(folder)
    with disk_errors(folder):
        new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        file = _open_lock_file(folder)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            file.truncate(0)
        if sys.platform == "win32":  # Windows removes no open file, so none that another process has just locked
            file.close()
        with contextlib.suppress(OSError):
            (folder / LOCK_FILE).unlink()
        file.close()
        if new:
            with contextlib.suppress(OSError):  # nothing was written: leave no empty folder
                folder.rmdir()


def is_locked(folder: str | Path) -> bool:
    """Return whether a process is writing to a folder now (`folder_lock`)."""
    try:
        with (Path(folder) / LOCK_FILE).open("r+", encoding="utf-8") as file:
            return not _try_lock(file)  # acquired for a moment: closing the file releases it
    except OSError:  # no lock file: nobody
        return False


def _open_lock_file(folder: Path) -> IO[str]:
    path = folder / LOCK_FILE
    while True:
        file = path.open("a+", encoding="utf-8")
        try:
            if not _try_lock(file):
                file.seek(0)
                owner = file.read(200).strip() or "another process"
                raise InputError(f"{folder}: {owner} is writing there; wait until it ends, or choose another folder")
            with contextlib.suppress(FileNotFoundError):  # its last owner has just removed it
                if sys.platform == "win32" or os.path.samestat(path.stat(), os.fstat(file.fileno())):
                    file.truncate(0)
                    file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
                    file.flush()
                    return file
        except BaseException:
            file.close()
            raise
        file.close()


def _try_lock(file: IO[str]) -> bool:
    """Lock an open file without waiting; return False if another process holds the lock."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(file.fileno(), _LOCK_OFFSET, os.SEEK_SET)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # this file system has no locks
        return True
    return True


# --- text and TOML files of users ---

MAX_TEXT_BYTES = 64 << 20
MAX_TOML_BYTES = 1 << 20  # bytes; the longest ranges, hand by hand, have 40,000
MAX_TOML_DEPTH = 12  # nesting of tables and lists; Riverboat's own formats have at most four levels

# tomllib parses a dotted key in quadratic time, so long ones are rejected beforehand.
_LONG_DOTTED_KEY = re.compile(
    rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MAX_TOML_DEPTH}}}"""
)


def read_text(path: str | Path, kind: str, max_bytes: int = MAX_TEXT_BYTES) -> str:
    """Read a text file; error messages begin with its `kind`."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            content = file.read(max_bytes + 1)
        if len(content) > max_bytes:
            limit = f"{max_bytes >> 20} MiB" if max_bytes >= 1 << 20 else f"{max_bytes:,} bytes"
            raise InputError(f"{kind} {str(path)!r}: larger than {limit}, the limit for such files")
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{kind} {str(path)!r}: {getattr(error, 'strerror', None) or 'no text'}") from None


def read_toml_text(path: str | Path, kind: str) -> str:
    """Read the text of a TOML file, which must be short, for `parse_toml`."""
    return read_text(path, kind, MAX_TOML_BYTES)


def parse_toml(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """Parse a TOML text into a table, within limits of size and nesting."""
    text = text.removeprefix("\ufeff")
    if len(text) > MAX_TOML_BYTES:
        raise InputError(f"TOML of {len(text):,} characters: at most {MAX_TOML_BYTES:,} are allowed")
    deep = f"tables or lists are nested too deeply; at most {MAX_TOML_DEPTH} levels are allowed"
    if _LONG_DOTTED_KEY.search(text):
        raise InputError(deep)
    import tomllib  # most commands read no file

    try:
        table = tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise InputError(deep) from None
    except ValueError as error:  # TOMLDecodeError is one; so is the error for an integer of thousands of digits
        problem = error if isinstance(error, tomllib.TOMLDecodeError) else "a number has too many digits"
        raise InputError(f"this is not TOML: {problem}") from None
    level: list[Any] = [table]
    for _ in range(MAX_TOML_DEPTH):
        inner = [list(value.values()) if isinstance(value, dict) else value for value in level]
        level = [value for values in inner for value in values if isinstance(value, dict | list)]
    if level:
        raise InputError(deep)
    return table


def preset_files(package: str) -> dict[str, Traversable]:
    """Return the TOML files in the folder `recipes` of a package, as a dictionary sorted by names without suffix."""
    from importlib import resources  # slow to load

    folder = resources.files(package) / "recipes"
    files = {path.name.removesuffix(".toml"): path for path in folder.iterdir() if path.name.endswith(".toml")}
    return {name: files[name] for name in sorted(files)}


def load_recipe(source: str | Path, package: str, parse: Callable[[str, str, Path | None], T]) -> T:
    """Load a recipe by the name of a package's preset, or by path; `parse` takes text, name, and folder or None."""
    presets, path = preset_files(package), Path(source)
    if str(source) in presets:
        return parse(presets[str(source)].read_text(encoding="utf-8"), str(source), None)
    if not path.is_file():
        raise InputError(f"recipe {str(source)!r}: no such file, and no preset (presets: {', '.join(presets)})")
    text = read_toml_text(path, "recipe")
    with located_errors(path):
        return parse(text, path.stem, path.parent)
