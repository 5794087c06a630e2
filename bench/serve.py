"""Latencies of `riverboat serve` on a server of its own: time to the first page, node reads, reads under load.

    python bench/serve.py DATA RUN        # a data folder with a solved flop, such as examples/spots/3bet_pot.toml

Prints one line for each figure; the server's own time is the CPU time of its process, if available.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import httpx
import numpy as np

READS, SECONDS = 200, 10  # reads per second, and duration
SPOT = {
    "name": "load", "board": "Td9d6h", "pot": 100, "stack": 500,
    "ranges": {"oop": "22+,A2s+,KTs+,AJo+", "ip": "22+,A2s+,K9s+,ATo+"},
    "bets": {"flop": {"bet": "50%", "raise": "60%"}, "turn": {"bet": "66%"}, "river": {"bet": "75%"}},
}  # fmt: skip


def start(data: Path) -> tuple[subprocess.Popen[str], str, str, float]:
    """Start a server; return its process, address and token, and the seconds until the complete first page."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "riverboat.cli.main", "serve", "--port", "0", "--no-open", "--data", str(data)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    address = re.search(r"(http://\S+)/\?token=(\S+)", process.stdout.readline())
    assert address is not None
    base, token = address[1], address[2]
    while True:
        try:
            with httpx.Client(base_url=base, follow_redirects=True) as browser:
                page = browser.get("/", params={"token": token})
                for name in re.findall(r'(?:src|href)="([\w./-]+\.(?:js|css|svg))"', page.text):
                    browser.get(f"/{name.removeprefix('/')}").raise_for_status()
            return process, base, token, time.perf_counter() - started
        except httpx.ConnectError:
            time.sleep(0.01)


def cpu(pid: int) -> float:
    """Return the CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def reads(client: httpx.Client, run: str) -> None:
    """Measure first and repeated reads of nodes on all streets, one after the other, at a clicking pace."""
    started = time.perf_counter()
    client.get("/api/node", params={"run": run}).raise_for_status()
    print(f"opening {run} and its root: {time.perf_counter() - started:.2f} s")
    time.sleep(3)  # the shared data of the first street is computed meanwhile
    first, again, again_own, line = [], [], [], ""
    rng = np.random.default_rng(1)
    while len(first) < 40:
        times, own = [], []
        for _ in range(4):
            started = time.perf_counter()
            answer = client.get("/api/node", params={"run": run, "line": line})
            times.append(time.perf_counter() - started)
            own.append(float(answer.headers["server-timing"].removeprefix("read;dur=")) / 1e3)
        node = answer.json()
        first.append((times[0], own[0]))
        again += times[1:]
        again_own += own[1:]
        if node["kind"] == "end":
            line = ""
        elif node["kind"] == "deal":
            line += "/" + rng.choice(node["cards"])
        else:
            line = rng.choice([move["line"] for move in node["moves"] if move["kind"] != "fold"])
        time.sleep(0.3)  # thinking time before the next click
    wall, own = zip(*first, strict=True)
    print(f"first reads, seen by the client: {spread(wall)}; the server's own time: {spread(own)}")
    print(f"repeated reads, seen by the client: {spread(again)}; the server's own time: {spread(again_own)}")


def spread(seconds: Sequence[float], digits: int = 2) -> str:
    """Format some quantiles in milliseconds."""
    middle, high, most = (f"{1e3 * float(np.quantile(seconds, q)):.{digits}f} ms" for q in (0.5, 0.95, 1.0))
    return f"median {middle}, 95 % {high}, most {most}"


def receive(line: socket.socket) -> bytes:
    """Receive a complete response."""
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += line.recv(1 << 16)
    size = answer.index(b"\r\n\r\n") + 4 + int(re.search(rb"content-length: (\d+)", answer)[1])  # type: ignore[index]
    while len(answer) < size:
        answer += line.recv(1 << 18)
    return answer


def load(base: str, token: str, run: str, pid: int, client: httpx.Client) -> None:
    """Measure repeated reads at a fixed rate while a solve runs."""
    job = client.post("/api/jobs", json={"spot": SPOT, "time": f"{3 * SECONDS}s"}).json()["name"]
    while client.get(f"/api/jobs/{job}").json()["last"] is None:
        time.sleep(0.5)
    times: list[float] = []
    lock, started, spent = threading.Lock(), time.perf_counter() + 0.5, cpu(pid)

    request = f"GET /api/node?run={run} HTTP/1.1\r\nHost: {base[7:]}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    host, port = base[7:].split(":")

    def work(number: int, of: int) -> None:  # raw sockets: an HTTP client library takes more time than the server
        with socket.create_connection((host, int(port))) as line:
            for k in range(number, READS * SECONDS, of):
                due = started + k / READS
                time.sleep(max(0.0, due - time.perf_counter()))
                line.sendall(request)
                answer = receive(line)
                assert answer.startswith(b"HTTP/1.1 200"), answer[:200]
                with lock:
                    times.append(time.perf_counter() - due)

    threads = [threading.Thread(target=work, args=(k, 8)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ends = time.perf_counter() - started
    state = client.get(f"/api/jobs/{job}").json()["state"]
    print(
        f"{len(times) / ends:.0f} repeated reads a second while a solve is {state}: median {1e3 * np.median(times):.1f} ms, "
        f"99 % {1e3 * np.quantile(times, 0.99):.1f} ms; processor time {1e3 * (cpu(pid) - spent) / len(times):.2f} ms a read"
    )
    client.post(f"/api/jobs/{job}/stop")
    while client.get(f"/api/jobs/{job}").json()["state"] == "stopping":
        time.sleep(0.2)
    client.delete(f"/api/jobs/{job}")


def main() -> None:
    """Measure and print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("run")
    arguments = parser.parse_args()
    process, base, token, seconds = start(arguments.data)
    try:
        spent = cpu(process.pid)
        print(f"first page, from the start of the command: {seconds:.2f} s; CPU time {spent:.2f} s")
        with httpx.Client(base_url=base, headers={"authorization": f"Bearer {token}"}, timeout=120) as client:
            reads(client, arguments.run)
            load(base, token, arguments.run, process.pid, client)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


if __name__ == "__main__":
    main()
