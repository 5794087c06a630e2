"""`riverboat serve`: start the server, print the link, open the browser."""

from __future__ import annotations

import ipaddress
import secrets
import socket
import sys
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from riverboat.cli import signals
from riverboat.cli.terminal import say, size_of_memory
from riverboat.core import atomic_io, plugins
from riverboat.core.errors import InputError, shown
from riverboat.web.gateway import Application, Door

if TYPE_CHECKING:
    from riverboat.web.server import Server

LOOPBACK = "127.0.0.1"
PORT = 8765
NAMES = ("127.0.0.1", "localhost", "[::1]")  # that mean this machine, as browsers write them


class Inside:
    """The server and its interface for scripts, made on a thread while the page is on its way already."""

    def __init__(self, data: Path, jobs: int, memory: int | None) -> None:
        self.data, self.jobs, self.memory = data, jobs, memory
        self.server: Server | None = None
        self._lock = threading.Lock()
        self._made: Application | None = None

    def __call__(self) -> Application:
        """The application, imported on first use."""
        with self._lock:
            if self._made is None:
                from riverboat.web.application import application
                from riverboat.web.server import Server

                self.server = Server(self.data, jobs=self.jobs, memory=self.memory)
                self._made = application(self.server)
            return self._made

    def stop(self) -> None:
        """Cancel what is computed, and take no more."""
        if self.server is not None:
            self.server.stop()

    def close(self) -> bool:
        """Let jobs save and end; whether everything that was computed has stopped in time."""
        return self.server is None or self.server.close()


def check_host(host: str) -> bool:
    """Whether an address is this machine's alone; refused where it is none."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        raise InputError(
            f"--host {shown(host)}: an address such as 127.0.0.1, or 0.0.0.0 for all of this machine"
        ) from None


def hosts(host: str, port: int) -> frozenset[str]:
    """What `Host` may be: the names of this machine, and the address that was given or, for all, those that it has."""
    names = {*NAMES, f"[{host}]" if ":" in host else host}
    if host in ("0.0.0.0", "::"):
        names |= {socket.gethostname().lower(), *(str(each[4][0]) for each in _addresses())}
    return frozenset(f"{name}:{port}" for name in names) | (frozenset(names) if port == 80 else frozenset())


def _addresses() -> list[tuple[object, object, object, object, tuple[object, ...]]]:
    try:
        return list(socket.getaddrinfo(socket.gethostname(), None))
    except OSError:
        return []


def listen(host: str, port: int) -> socket.socket:
    """A socket that is bound, so that its port is known before anything is printed."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, or asyncio leaves Nagle's delay on
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        why = (error.strerror or str(error)).lower()
        raise InputError(f"--host {host} --port {port}: {why}; choose another port, or 0 for a free one") from None
    return bound


def serve(port: int, host: str, data: Path, jobs: int, memory: str | None, *, opens: bool) -> None:
    """Serve until interrupted; jobs that run then write a checkpoint."""
    try:
        from riverboat.web.connections import listener
    except ImportError:
        raise InputError("riverboat serve needs FastAPI and uvicorn: pip install 'riverboat[web]'") from None
    most = None if memory is None else size_of_memory(memory)
    alone = check_host(host)
    bound = listen(host, port)  # an address that is refused leaves no folder
    try:
        with atomic_io.told(data):
            data.mkdir(parents=True, exist_ok=True)
    except Exception:
        bound.close()
        raise
    plugins.forbid("the server")
    port = bound.getsockname()[1]
    token = secrets.token_urlsafe(24)
    inside = Inside(data, jobs, most)
    door = Door(inside, token, hosts(host, port), port)
    shown_host = "127.0.0.1" if host in ("0.0.0.0", "localhost") else f"[{host}]" if ":" in host else host
    link = f"http://{shown_host}:{port}/?token={token}"
    print(f"Riverboat: {link}", flush=True)
    say(f"data folder: {data}; stop with Ctrl-C")
    if not alone:
        say(
            f"--host {host}: everybody who can reach this address and has the link can solve here and read the data folder; "
            "nothing is encrypted, so use it in a network that you trust"
        )
    if opens:
        threading.Timer(0.3, webbrowser.open, (link,)).start()
    try:
        listener(door, inside.stop).run(sockets=[bound])
    finally:
        say("stopping: jobs write a checkpoint")
        stopped = inside.close()
        if not stopped and isinstance(sys.exc_info()[1], KeyboardInterrupt):
            signals.end_now()  # a loop that polls nothing: its thread would not survive the end of the interpreter
