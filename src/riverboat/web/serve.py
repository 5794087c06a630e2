"""`riverboat serve`: start the server, print the link, open the browser."""

from __future__ import annotations

import ipaddress
import secrets
import socket
import sys
import threading
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from riverboat.api.options import parse_byte_size
from riverboat.cli import termination
from riverboat.cli.terminal import say
from riverboat.core import files, plugins
from riverboat.core.errors import InputError, short_repr
from riverboat.web.gateway import Application, Gateway

if TYPE_CHECKING:
    from riverboat.web.server import Server

LOOPBACK = "127.0.0.1"
PORT = 8765
LOCAL_HOSTNAMES = ("127.0.0.1", "localhost", "[::1]")  # names of this machine, as browsers write them


class LazyApplication:
    """The server and its API, created on a thread while the browser loads the page."""

    def __init__(self, data: Path, jobs: int, memory: int | None) -> None:
        self.data, self.jobs, self.memory = data, jobs, memory
        self.server: Server | None = None
        self._lock = threading.Lock()
        self._application: Application | None = None

    def __call__(self) -> Application:
        """Return the application, which is imported on first use."""
        with self._lock:
            if self._application is None:
                from riverboat.web.application import create_application
                from riverboat.web.server import Server

                self.server = Server(self.data, jobs=self.jobs, memory=self.memory)
                self._application = create_application(self.server)
            return self._application

    def stop(self) -> None:
        """Cancel computations and accept no new ones."""
        if self.server is not None:
            self.server.stop()

    def close(self) -> bool:
        """Stop jobs after a checkpoint; return whether all computations have stopped in time."""
        return self.server is None or self.server.close()


def is_loopback_host(host: str) -> bool:
    """Return whether an address is only reachable from this machine; raise an error for invalid addresses."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        raise InputError(
            f"--host {short_repr(host)}: write an address such as 127.0.0.1, or 0.0.0.0 for all of this machine"
        ) from None


def allowed_hosts(host: str, port: int) -> frozenset[str]:
    """Return the accepted `Host` headers: names of this machine, the given address, or for 0.0.0.0 all of its own."""
    names = {*LOCAL_HOSTNAMES, f"[{host}]" if ":" in host else host}
    if host in ("0.0.0.0", "::"):
        names.add(socket.gethostname().lower())
        with suppress(OSError):
            names |= {str(each[4][0]) for each in socket.getaddrinfo(socket.gethostname(), None)}
    return frozenset(f"{name}:{port}" for name in names) | (frozenset(names) if port == 80 else frozenset())


def bind_socket(host: str, port: int) -> socket.socket:
    """Return a socket bound to an address, so that its port is known before the link is printed; 0: any free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # explicit protocol: otherwise asyncio does not disable Nagle's algorithm
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"--host {host} --port {port}: {reason}; choose another port, or 0 for a free one") from None
    return bound


def serve(port: int, host: str, data: Path, jobs: int, memory: str | None, *, open_browser: bool) -> None:
    """Serve the page and the API until interrupted; running jobs then write a checkpoint.

    `jobs`: processes at once; `memory`: limit of all jobs, such as 8GB.
    """
    try:
        from riverboat.web.connections import make_server
    except ImportError:
        raise InputError("riverboat serve needs FastAPI and uvicorn: pip install 'riverboat[web]'") from None
    memory_limit = None if memory is None else parse_byte_size(memory)
    is_local = is_loopback_host(host)
    with bind_socket(host, port) as bound:  # bind first: an invalid address leaves no folder behind
        with files.disk_errors(data):
            data.mkdir(parents=True, exist_ok=True)
        plugins.forbid_imports("the server")
        port = bound.getsockname()[1]
        token = secrets.token_urlsafe(24)
        application = LazyApplication(data, jobs, memory_limit)
        gateway = Gateway(application, token, allowed_hosts(host, port), port)
        shown_host = "127.0.0.1" if host in ("0.0.0.0", "localhost") else f"[{host}]" if ":" in host else host
        link = f"http://{shown_host}:{port}/?token={token}"
        print(f"Riverboat: {link}", flush=True)
        say(f"data folder: {data}; stop with Ctrl-C")
        if not is_local:
            say(
                f"--host {host}: anybody who can reach this address and has the link can solve and read the data folder; "
                "nothing is encrypted, so use it only in a trusted network"
            )
        if open_browser:
            threading.Timer(0.3, webbrowser.open, (link,)).start()
        try:
            make_server(gateway, application.stop).run(sockets=[bound])
        finally:
            say("stopping: jobs write a checkpoint")
            if not application.close() and isinstance(sys.exc_info()[1], KeyboardInterrupt):
                termination.exit_immediately()  # a thread that never polls would crash at interpreter exit
