"""The door of the server: who may come in, the files of the page, and the size of what is sent.

Everything is refused that does not come from the page itself or from a script with the token:

- `Host` must be an address that the server was told it has, so that no name that somebody else points here (DNS rebinding)
  is answered;
- `Origin` and `Sec-Fetch-Site` must be the page's own, so that no other page can drive the server;
- the token must be there: in the printed link, which leaves it as a cookie, or as `Authorization: Bearer …`;
- what a cookie lets in may only read (GET), unless `Origin` or `Sec-Fetch-Site` says that the page itself has sent it.

A request whose client goes away is cancelled: it leaves the queue, and what is computed for it stops.

This module is plain ASGI and loads nothing: the page is there before the interface for scripts has been imported.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import threading
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, unquote, urlencode

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

PAGE = Path(__file__).parent / "page"
MOST_BODY = 1 << 20  # bytes of a request
LATER = 0.3  # seconds after the page that what computes is loaded, so that the page does not wait for it
KINDS = {
    ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".json": "application/json",
    ".webmanifest": "application/manifest+json", ".woff2": "font/woff2",
}  # fmt: skip
HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
CLOSED = (
    "<!doctype html><meta charset=utf-8><title>Riverboat</title><p>This server is closed. Open the link that "
    "<code>riverboat serve</code> has printed: it has a token in it."
)


class Door:
    """An ASGI application around the interface for scripts, which is asked for when it is needed first."""

    def __init__(self, inside: Callable[[], Application], token: str, hosts: frozenset[str], port: int) -> None:
        if not token:
            raise ValueError("a door needs a token: an empty one would let everybody in")
        self.inside, self.token, self.hosts = inside, token, hosts
        self._application: Application | None = None
        self._called = False
        self.cookie = f"riverboat-{port}"  # browsers keep one jar for all ports of an address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        if scope["type"] != "http":  # no websockets
            await send({"type": "websocket.close", "code": 1008})
            return
        pairs = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        headers = dict(pairs)
        path, method = scope["path"], scope["method"]
        known = self._known(pairs)
        why = self._stranger(headers, path)
        if why is not None:
            await _tell(send, 403, why)
        elif path == "/" and (query := dict(parse_qsl(scope["query_string"].decode("latin-1")))).get("token"):
            await self._enter(send, query)
        elif known is None:
            await self._closed(send, path)
        elif known == "cookie" and method not in ("GET", "HEAD") and not _from_page(headers):
            await _tell(
                send, 403, f"{method} by a cookie without an Origin: scripts send 'Authorization: Bearer TOKEN'"
            )
        elif path.startswith("/api/"):
            await self._pass(scope, receive, send, headers)
        elif method not in ("GET", "HEAD"):
            await _tell(send, 405, f"{method} {path}: the page is only read; scripts write under /api/")
        else:
            await _file(send, path, head=method == "HEAD")
            if not self._called:  # the page is on its way: what it will ask is loaded meanwhile
                self._called = True
                later = threading.Timer(LATER, self.inside)
                later.daemon = True
                later.start()

    # --- who comes in ---------------------------------------------------------------------------

    def _stranger(self, headers: Mapping[str, str], path: str) -> str | None:
        """Why a request is not from the page or a script here; None where nothing speaks against it."""
        host = headers.get("host", "")
        if host.lower() not in self.hosts:
            return f"host {host[:100]!r}: this server is {' or '.join(sorted(self.hosts))}"
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"http://{host.lower()}":
            return f"origin {origin[:100]!r}: another page may not use this server"
        if path != "/" and headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return (
                f"a request from another site ({headers['sec-fetch-site'][:20]}): another page may not use this server"
            )
        return None

    def _known(self, headers: Sequence[tuple[str, str]]) -> str | None:
        """By what a request has the token: `bearer`, `cookie`, or None where it has not.

        An `Authorization` that is there decides alone: one of the scheme Bearer (RFC 9110: in any case), and no second.
        """
        given = [value for name, value in headers if name == "authorization"]
        if given:
            scheme, _, token = given[0].strip(" \t").partition(" ")
            fits = len(given) == 1 and scheme.lower() == "bearer" and self._fits(token.lstrip(" "))
            return "bearer" if fits else None
        cookies = [
            one.strip().partition("=") for name, value in headers if name == "cookie" for one in value.split(";")
        ]
        return "cookie" if any(name == self.cookie and self._fits(value) for name, _, value in cookies) else None

    def _fits(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode())

    async def _enter(self, send: Send, query: dict[str, str]) -> None:
        """The printed link: leave the token as a cookie, and the address without it."""
        if not self._fits(query.pop("token")):
            await self._closed(send, "/")
            return
        cookie = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        where = "/" + (f"?{urlencode(query)}" if query else "")
        await _answer(send, 303, b"", "text/plain", {"location": where, "set-cookie": cookie})

    async def _closed(self, send: Send, path: str) -> None:
        if path.startswith("/api/"):
            why = "a token is missing or wrong: send 'Authorization: Bearer TOKEN', or open the printed link"
            await _tell(send, 401, why)
        else:
            await _answer(send, 401, CLOSED.encode(), KINDS[".html"])

    # --- what goes on to the interface for scripts ----------------------------------------------

    async def _pass(self, scope: Scope, receive: Receive, send: Send, headers: Mapping[str, str]) -> None:
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MOST_BODY:
            await _tell(send, 413, f"a body of {length[:20]} bytes: {MOST_BODY:,} are the most")
            return
        body = await _body(receive)
        if body is None:  # the client has gone
            return
        if len(body) > MOST_BODY:
            await _tell(send, 413, f"a body of more than {MOST_BODY:,} bytes")
            return

        async def closed(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *_pairs(HEADERS)]
                if b"cache-control" not in names:
                    message["headers"].append((b"cache-control", b"no-store"))
            await send(message)

        if self._application is None:
            self._application = await asyncio.to_thread(self.inside)
        await _until_left(self._application, scope, body, receive, closed)


# --- bodies, and clients that leave ---------------------------------------------------------------


async def _body(receive: Receive) -> bytes | None:
    """The whole body, or as much as is too much; None where the client went away before its end."""
    body = b""
    while len(body) <= MOST_BODY:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return body


async def _until_left(application: Application, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
    """Let an application answer; cancel it where the client goes away first."""
    left = asyncio.create_task(_left(receive))
    given = False

    async def whole() -> Message:
        nonlocal given
        if not given:
            given = True
            return {"type": "http.request", "body": body, "more_body": False}
        await asyncio.shield(left)
        return {"type": "http.disconnect"}

    answering = asyncio.create_task(_run(application, scope, whole, send))
    try:
        await asyncio.wait((answering, left), return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)
        if not answering.cancelled() and (error := answering.exception()) is not None:
            raise error
    finally:
        for task in (answering, left):
            task.cancel()
        await asyncio.gather(answering, left, return_exceptions=True)


async def _run(application: Application, scope: Scope, receive: Receive, send: Send) -> None:
    await application(scope, receive, send)


async def _left(receive: Receive) -> None:
    """Wait until the client goes away."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _from_page(headers: Mapping[str, str]) -> bool:
    """Whether the page itself has sent a request; another's `Origin` or `Sec-Fetch-Site` was refused before."""
    return "origin" in headers or headers.get("sec-fetch-site") == "same-origin"


# --- answers ------------------------------------------------------------------------------------


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


def _pairs(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]


async def _answer(send: Send, status: int, body: bytes, kind: str, more: Mapping[str, str] | None = None) -> None:
    headers = {"content-type": kind, "content-length": str(len(body)), "cache-control": "no-store", **HEADERS}
    await send({"type": "http.response.start", "status": status, "headers": _pairs(headers | dict(more or {}))})
    await send({"type": "http.response.body", "body": body})


async def _tell(send: Send, status: int, why: str) -> None:
    await _answer(send, status, json.dumps({"error": why}).encode(), KINDS[".json"])


async def _file(send: Send, path: str, *, head: bool) -> None:
    """A file of the page. Names are looked up among those that are there: no path leads anywhere else."""
    name = unquote(path).removeprefix("/") or "index.html"
    there = {file.relative_to(PAGE).as_posix(): file for file in PAGE.rglob("*") if file.suffix in KINDS}
    if name not in there:
        await _tell(send, 404, f"{path[:100]}: no such file of the page")
        return
    body = there[name].read_bytes()
    more = {"cache-control": "no-cache"} | ({"content-length": str(len(body))} if head else {})
    await _answer(send, 200, b"" if head else body, KINDS[there[name].suffix], more)
