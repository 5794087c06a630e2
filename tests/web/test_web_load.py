"""Slow, disconnecting and demanding clients; a server that shuts down while it computes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from browsing import PATIENCE
from processes import Processes
from riverboat.core.cancellation import CancelledError, check_cancellation, has_cancellation_check
from riverboat.web import serve
from riverboat.web.connections import DeadlineProtocol, make_server
from riverboat.web.gateway import Gateway
from riverboat.web.routes import spots
from riverboat.web.server import MAX_WAITING_READS, READ_THREADS
from riverboat.web.work_queue import BusyError, PriorityGate, WorkQueue

TOKEN = "a-token-of-the-test"
SPOT = {
    "board": "Td9d6hQc2s", "pot": 200, "stack": 900, "ranges": {"oop": "66+,AK", "ip": "QQ-22,AQ"},
    "bets": {"river": {"bet": "60%, a"}},
}  # fmt: skip


class Impatient(DeadlineProtocol):
    """The server's protocol with short deadlines."""

    head_seconds, body_seconds, send_seconds, max_connections = 0.2, 0.2, 0.4, 40


class Running:
    """A server on a thread of this process."""

    def __init__(self, data: Path) -> None:
        bound = serve.bind_socket("127.0.0.1", 0)
        self.port = bound.getsockname()[1]
        self.inside = serve.LazyApplication(data, 1, None)
        door = Gateway(self.inside, TOKEN, serve.allowed_hosts("127.0.0.1", self.port), self.port)
        self.listener = make_server(door, self.inside.stop, Impatient)
        self.inside()  # load it first, so that no deadline passes meanwhile
        self.thread = threading.Thread(target=self.listener.run, kwargs={"sockets": [bound]}, daemon=True)
        self.thread.start()
        until(lambda: self.listener.started)

    def client(self) -> httpx.Client:
        headers = {"authorization": f"Bearer {TOKEN}"}
        return httpx.Client(base_url=f"http://127.0.0.1:{self.port}", headers=headers, timeout=PATIENCE)

    def connect(self, text: str = "") -> socket.socket:
        """Return a connection after sending some bytes."""
        made = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        made.sendall(text.encode())
        return made

    def head(self, method: str, path: str, *more: str) -> str:
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", f"Authorization: Bearer {TOKEN}", *more]
        return "\r\n".join(lines) + "\r\n\r\n"

    def close(self) -> None:
        self.listener.should_exit = True
        self.thread.join(PATIENCE)
        self.inside.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    made = Running(tmp_path_factory.mktemp("data"))
    yield made
    made.close()


def is_dropped(connection: socket.socket) -> bool:
    """Return whether the server closes a connection; earlier data is read."""
    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
        while connection.recv(1 << 16):
            pass
    connection.close()
    return True  # otherwise the socket's timeout raises


def until(fact: Callable[[], bool], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < end
        time.sleep(0.01)


# --- Slow clients ---


@pytest.mark.parametrize("sent", ["", "GET /api/ab", "GET /api/about HTTP/1.1\r\nHost: x\r\nX-A: b\r\n"])
def test_slow_headers_are_dropped(running: Running, sent: str) -> None:
    connection = running.connect(sent)
    stop = threading.Event()

    def trickle() -> None:  # single bytes do not extend the deadline
        with contextlib.suppress(OSError):
            while sent and not stop.wait(0.05):
                connection.sendall(b"a")

    thread = threading.Thread(target=trickle, daemon=True)
    thread.start()
    assert is_dropped(connection)
    stop.set()
    thread.join()


def test_deadline_of_a_second_request(running: Running) -> None:
    connection = running.connect(running.head("GET", "/api/about"))
    assert b"200 OK" in connection.recv(1 << 16)
    connection.sendall(b"GET /api/ab")
    assert is_dropped(connection)


@pytest.mark.parametrize("path", ["/api/ranges", "/api/nothing", "/index.html"])
def test_stalled_bodies_are_dropped(running: Running, path: str) -> None:
    """This also holds if the response does not need the body: unknown route or no token."""
    length = "Content-Length: 1000"
    for head in (running.head("POST", path, length), running.head("POST", path, length).replace(TOKEN, "x")):
        assert is_dropped(running.connect(head + '{"text": "A'))


def test_unread_responses_are_dropped(running: Running) -> None:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
    connection.connect(("127.0.0.1", running.port))
    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
        connection.sendall(running.head("GET", "/api/openapi.json").encode() * 400)  # far more than the buffers
    server = running.listener.server_state
    until(lambda: not server.connections)
    connection.close()


def test_limit_on_connections(running: Running) -> None:
    until(lambda: not running.listener.server_state.connections)
    with contextlib.ExitStack() as opened:
        for _ in range(Impatient.max_connections):
            connection = opened.enter_context(running.connect(running.head("GET", "/api/about")))
            assert b"200 OK" in connection.recv(1 << 16)  # kept alive
        assert is_dropped(running.connect(running.head("GET", "/api/about")))
    until(lambda: not running.listener.server_state.connections)
    with running.client() as client:
        assert client.get("/api/about").status_code == 200


# --- Abandoned requests ---


def test_abandoned_estimates_are_not_computed(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred clients disconnect: queued work never starts, and running work stops at its next poll."""
    begun, stopped, left = [], [], threading.Event()

    def endless(*arguments: Any, **options: Any) -> dict[str, Any]:
        begun.append(arguments)
        left.wait(PATIENCE)
        try:
            while True:
                time.sleep(0.005)
                check_cancellation()
        except CancelledError:
            stopped.append(arguments)
            raise

    server = running.inside.server
    assert server is not None
    with monkeypatch.context() as patch:
        patch.setattr(spots, "estimate", endless)
        body = json.dumps({"spot": SPOT})
        head = running.head("POST", "/api/spots/size", "Content-Type: application/json", f"Content-Length: {len(body)}")
        for k in range(1, 5):
            opened = [running.connect(head + body) for _ in range(25)]
            until(lambda: server.read_queue.num_pending == 25)
            until(lambda k=k: len(begun) == k * READ_THREADS)  # every thread has one, before the others are removed
            for connection in opened:
                connection.close()
            until(lambda: server.read_queue.num_pending == READ_THREADS)  # the others were removed from the queue
            left.set()
            until(lambda: server.read_queue.num_pending == 0)
            left.clear()
    assert len(begun) == 4 * READ_THREADS
    assert len(stopped) == len(begun)
    before = server.read_queue.num_started
    with running.client() as client:
        assert client.post("/api/spots/size", json={"spot": SPOT}).json()["infosets"] > 0
    assert server.read_queue.num_started == before + 1


def test_full_queue_sends_retry_after(running: Running) -> None:
    server, released = running.inside.server, threading.Event()
    assert server is not None
    before = server.read_queue.num_started
    waiting = [server.read_queue.submit(released.wait) for _ in range(READ_THREADS)]
    until(lambda: server.read_queue.num_started == before + READ_THREADS)
    waiting += [server.read_queue.submit(released.wait) for _ in range(MAX_WAITING_READS)]
    with running.client() as client:
        answer = client.post("/api/spots/size", json={"spot": SPOT})
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
        assert client.get("/api/about").status_code == 200  # cheap requests are still answered
        released.set()
        until(lambda: server.read_queue.num_pending == 0)
        assert client.post("/api/spots/size", json={"spot": SPOT}).status_code == 200
    assert all(task.future.result() for task in waiting)


# --- Queue ---


def test_slow_work_times_out() -> None:
    queue, ended = WorkQueue("test", threads=1, max_waiting=9), threading.Event()

    def endless() -> None:
        try:
            while True:
                check_cancellation()
        finally:
            ended.set()

    with pytest.raises(BusyError):
        asyncio.run(queue.run(endless, seconds=0.05))
    assert ended.wait(PATIENCE)
    assert asyncio.run(queue.run(lambda: "next", seconds=PATIENCE)) == "next"
    queue.close()
    with pytest.raises(BusyError, match="stopping"):
        queue.submit(endless)


def test_priority_and_uninterruptible_work() -> None:
    gate, order, begun, release = PriorityGate(), list[str](), threading.Event(), threading.Event()
    behind = WorkQueue("behind", threads=1, max_waiting=9, gate=gate, nice=1)
    urgent = WorkQueue("urgent", threads=1, max_waiting=9, gate=gate, urgent=True)

    def slow() -> None:
        begun.set()
        until(lambda: urgent.num_started == 1)
        check_cancellation()  # waits here
        order.append("review")

    def move() -> None:
        assert not has_cancellation_check()
        order.append("move begins")
        release.wait(PATIENCE)
        order.append("move ends")

    review = behind.submit(slow)
    assert begun.wait(PATIENCE)
    moved = urgent.submit(move, uninterruptible=True)
    until(lambda: "move begins" in order)
    moved.cancel()  # it completes although its client has disconnected
    time.sleep(0.1)
    release.set()
    review.future.result(PATIENCE)
    assert order == ["move begins", "move ends", "review"]
    for queue in (behind, urgent):
        queue.close()
        assert queue.is_idle(PATIENCE)


# --- Shutdown ---


@pytest.mark.posix
@pytest.mark.parametrize(
    ("how", "fresh"),
    [
        (signal.SIGTERM, False), pytest.param(signal.SIGTERM, True, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, True, marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_shutdown_during_a_chart_computation(
    processes: Processes, tmp_path: Path, how: signal.Signals, fresh: bool
) -> None:
    """Nine players take minutes to solve; with an empty cache two do, while kernels are compiled.

    A job that runs at the same time writes its checkpoint.
    """
    environment = os.environ | ({"XDG_CACHE_HOME": str(tmp_path / "cache")} if fresh else {})
    command = "serve", "--port", "0", "--no-open", "--data", tmp_path
    process = processes.riverboat(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    base, _, token = process.stdout.readline().split()[1].partition("/?token=")
    headers = {"authorization": f"Bearer {token}"}
    source = {"source": "push:10,10" if fresh else f"push:{','.join(['10'] * 9)}"}
    asked = threading.Thread(target=_ask, args=(f"{base}/api/charts", headers, source), daemon=True)
    with httpx.Client(base_url=base, headers=headers, timeout=PATIENCE) as client:
        client.get("/api/about").raise_for_status()
        asked.start()
        if fresh:
            job = {"spot": SPOT | {"name": "job"}, "time": "100s", "threads": 1}
            assert client.post("/api/jobs", json=job).status_code == 201
            until(lambda: client.get("/api/jobs/job").json()["last"] is not None)
        else:
            time.sleep(1)
    begun = time.monotonic()
    process.send_signal(how)
    _, said = process.communicate(timeout=PATIENCE)
    print(f"ended {time.monotonic() - begun:.1f} s after {how.name}")
    assert process.returncode == 128 + how
    assert "Traceback" not in said
    asked.join(PATIENCE)
    assert not fresh or list((tmp_path / "job").glob("checkpoint-*"))


def _ask(address: str, headers: dict[str, str], body: dict[str, Any]) -> None:
    with contextlib.suppress(httpx.HTTPError):
        httpx.post(address, headers=headers, json=body, timeout=PATIENCE)
