"""Files on disk: written whole or not at all, one writer to a folder, and errors that name the place.

with disk.beside(path) as draft:      # a name in the same folder, renamed when all is written
    figure.savefig(draft)
with disk.held(folder):               # refused while another process writes there
    ...
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import socket
import sys
import threading
import time as clock
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, TextIO, cast

from riverboat.core.errors import DiskError, InputError

LOCK = ".lock"
PICTURES = (".png", ".svg", ".pdf", ".jpg", ".jpeg")
PATIENCE = 2.0  # seconds to wait on Windows for somebody who reads what is to be replaced
_FAR = 1 << 30  # the byte that Windows locks: behind what is written, so that others can read it


_REASONS = {
    errno.ENOSPC: "no space left on device: the disk is full; free some room, or choose another place",
    errno.EDQUOT: "disk quota exceeded; free some room, or choose another place",
    errno.EFBIG: "file too large for this disk, or for the limit on files (ulimit -f); choose another place",
    errno.EROFS: "read-only file system; choose another place",
    errno.EMFILE: "too many open files; raise the limit (ulimit -n), or ask for less at once",
    errno.ENFILE: "too many open files in the whole system; close some programs",
}


def reason(error: OSError) -> str:
    """Describe what the operating system has refused, and the way out where there is one."""
    known = _REASONS.get(error.errno or 0)
    return known or (error.strerror or str(error) or "cannot be used").lower()


@contextlib.contextmanager
def told(path: str | Path) -> Iterator[None]:
    """Errors of the operating system become one line that names the place."""
    try:
        yield
    except DiskError:
        raise
    except OSError as error:
        raise DiskError(f"{path}: {reason(error)}") from error


def sync(path: Path) -> None:
    """Make sure that a file's bytes have left the cache before a name points to them."""
    if sys.platform == "win32":  # which flushes only what is open for writing
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace(source: Path, target: Path) -> None:
    """Rename a file or a folder, over a file that is there. Windows refuses while somebody reads it: then wait."""
    until = clock.monotonic() + PATIENCE
    while True:
        try:
            source.replace(target)
            return
        except PermissionError:
            if sys.platform != "win32" or clock.monotonic() >= until:
                raise
            clock.sleep(0.01)


def file_name(text: str) -> str:
    """Turn any text into a name that every file system takes: Windows has no `: ? * " < > |` in names."""
    return re.sub(r"[^\w.,=+()-]+", "-", text).strip(".-") or "unnamed"


@contextlib.contextmanager
def beside(path: str | Path) -> Iterator[Path]:
    """A file to write in the place of `path`, which it takes when the block ends well. Folders on the way are made."""
    path = Path(path)
    with told(path):
        if path.is_dir():
            raise DiskError(f"{path}: is a folder, and a file is to be written")
        if path.exists() and not path.is_file():  # a device or a pipe stays what it is
            yield path
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        _discard_drafts(path)
        # Threads of a process may write the same file; pictures go by the suffix.
        draft = path.with_name(f".{path.stem}.{os.getpid()}-{threading.get_ident()}.tmp{path.suffix}")
        try:
            yield draft
            sync(draft)
            replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)


def _discard_drafts(path: Path) -> None:
    """Remove what processes that were killed while they wrote a file have left beside it."""
    before, behind = f".{path.stem}.", f".tmp{path.suffix}"
    for other in path.parent.iterdir():
        writer = other.name.removeprefix(before).removesuffix(behind)
        process = writer.partition("-")[0]
        if other.name == f"{before}{writer}{behind}" and process.isdecimal() and not _lives(int(process)):
            other.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    """Whether a process may still be at work; where that cannot be asked, yes."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):  # somebody else's; or no number that a process has
        pass
    return True


def check_picture(path: str | Path) -> Path:
    """The path, if a picture can lie there and its name says of which kind. Commands ask before they work for minutes."""
    path = Path(path)
    if path.suffix.lower() not in PICTURES:
        raise InputError(f"picture {path}: unknown kind {path.suffix!r}; use .png, .svg or .pdf")
    with told(path):
        if path.is_dir():
            raise DiskError(f"{path}: is a folder; name a picture in it, such as {path / 'picture.png'}")
    return path


def save_picture(figure: Any, path: str | Path) -> Path:
    """Write a figure of Matplotlib; a .png in 256 colours, a third of its size and no other to the eye."""
    path = check_picture(path)
    with beside(path) as draft:
        if path.suffix.lower() != ".png":
            figure.savefig(draft, dpi=130)
            return path
        from PIL import Image  # Matplotlib stands on it

        drawn = io.BytesIO()
        figure.savefig(drawn, format="png", dpi=130)
        few = Image.open(drawn).convert("RGB").quantize(256, dither=Image.Dither.NONE)
        few.save(draft, format="PNG", optimize=True)
    return path


@contextlib.contextmanager
def text_file(path: str | Path) -> Iterator[TextIO]:
    """The same as an open file of text; line ends stay as they are written."""
    with beside(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        yield cast("TextIO", file)


def write_text(path: str | Path, text: str) -> None:
    """The same in one go."""
    with text_file(path) as file:
        file.write(text)


def append(path: str | Path, line: str) -> None:
    """Add a line to a file, in one piece: who reads along sees whole lines, and so does who comes after a crash."""
    with told(path):
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        try:
            body = f"{line}\n".encode()
            size = os.fstat(handle).st_size
            if os.write(handle, body) != len(body):  # the disk is full: no half a line
                os.ftruncate(handle, size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(handle)


# --- one writer ---------------------------------------------------------------------------------


@contextlib.contextmanager
def held(folder: str | Path) -> Iterator[None]:
    """Be the only process that writes to a folder, which is made where it is missing.

    The lock is a file in it, and belongs to the open handle: the operating system drops it with the process, however that
    ends. A file system that knows no locks gives none.
    """
    folder = Path(folder)
    with told(folder):
        new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        file = _lock(folder)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            file.truncate(0)
        if sys.platform == "win32":  # removes no open file, so none that another process has just locked
            file.close()
        with contextlib.suppress(OSError):
            (folder / LOCK).unlink()
        file.close()
        if new:
            with contextlib.suppress(OSError):  # nothing came of it: no empty folder is left
                folder.rmdir()


def is_held(folder: str | Path) -> bool:
    """Whether a process is writing to a folder now (`held`)."""
    try:
        with (Path(folder) / LOCK).open("r+", encoding="utf-8") as file:
            return not _take(file)  # taken for a moment: closing lets go
    except OSError:  # no lock file: nobody
        return False


def _lock(folder: Path) -> IO[str]:
    path = folder / LOCK
    while True:
        file = path.open("a+", encoding="utf-8")
        try:
            if not _take(file):
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


def _take(file: IO[str]) -> bool:
    """Lock an open file; false where somebody else has it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(file.fileno(), _FAR, os.SEEK_SET)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # no locks here
        return True
    return True
