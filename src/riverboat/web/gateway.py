"""The gateway of the server: authentication, the files of the page, and size limits.

Only requests from the page itself or from a script with the token are accepted:

- `Host` must be an address of this server, which prevents DNS rebinding;
- `Origin` and `Sec-Fetch-Site` must be the page's own, so that no other page can use the server;
- the token is required: the printed link stores it as a cookie, scripts send `Authorization: Bearer …`;
- requests with the cookie may only read (GET), unless `Origin` or `Sec-Fetch-Site` shows that the page sent them.

A request whose client disconnects is cancelled: it leaves the queue, and its computation stops.

This module is plain ASGI without heavy imports: the page is available before the API has been imported.
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
ApplicationFactory: TypeAlias = Callable[[], Application]

PAGE = Path(__file__).parent / "page"
MAX_BODY_BYTES = 1 << 20  # bytes of a request
PRELOAD_DELAY = 0.3  # seconds between sending the page and importing the API, so that the page does not wait for it
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".json": "application/json",
    ".webmanifest": "application/manifest+json", ".woff2": "font/woff2",
}  # fmt: skip
SECURITY_HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
UNAUTHORIZED_PAGE = (
    "<!doctype html><meta charset=utf-8><title>Riverboat</title><p>This server needs a token. Open the link that "
    "<code>riverboat serve</code> has printed: it contains the token."
)


class Gateway:
    """An ASGI application that checks requests, sends page files, and forwards API requests.

    `make_application` creates the API on first use. `hosts`: accepted `Host` headers.
    """

    def __init__(self, make_application: ApplicationFactory, token: str, hosts: frozenset[str], port: int) -> None:
        if not token:
            raise ValueError("token must not be empty: anybody could use the server")
        self.make_application, self.token, self.hosts = make_application, token, hosts
        self._application: Application | None = None
        self._preloading = False
        self.cookie = f"riverboat-{port}"  # browsers share cookies between all ports of an address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        pairs = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        headers = dict(pairs)
        path, method = scope["path"], scope["method"]
        credential = self._authenticate(pairs)
        reason = self._rejection_reason(headers, path)
        from_page = "origin" in headers or headers.get("sec-fetch-site") == "same-origin"  # foreign ones have a reason
        if reason is not None:
            await _send_error(send, 403, reason)
        elif path == "/" and (query := dict(parse_qsl(scope["query_string"].decode("latin-1")))).get("token"):
            await self._set_token_cookie(send, query)
        elif credential is None:
            await self._send_unauthorized(send, path)
        elif credential == "cookie" and method not in ("GET", "HEAD") and not from_page:
            reason = f"{method} with a cookie but without an Origin: scripts must send 'Authorization: Bearer TOKEN'"
            await _send_error(send, 403, reason)
        elif path.startswith("/api/"):
            await self._forward(scope, receive, send, headers)
        elif method not in ("GET", "HEAD"):
            await _send_error(send, 405, f"{method} {path}: page files are read-only; use /api/")
        else:
            await _send_file(send, path, head=method == "HEAD")
            if not self._preloading:  # import the API while the browser loads the page
                self._preloading = True
                timer = threading.Timer(PRELOAD_DELAY, self.make_application)
                timer.daemon = True
                timer.start()

    # --- Authentication ---

    def _rejection_reason(self, headers: Mapping[str, str], path: str) -> str | None:
        """Return why a request is neither from the page nor from a script, or None."""
        host = headers.get("host", "")
        if host.lower() not in self.hosts:
            return f"host {host[:100]!r}: this server is {' or '.join(sorted(self.hosts))}"
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"http://{host.lower()}":
            return f"origin {origin[:100]!r}: other pages may not use this server"
        site = headers.get("sec-fetch-site", "none")
        if path != "/" and site not in ("none", "same-origin"):
            return f"a request from another site ({site[:20]}): other pages may not use this server"
        return None

    def _authenticate(self, headers: Sequence[tuple[str, str]]) -> str | None:
        """Return how a request carries the token: `bearer`, `cookie`, or None if it does not.

        An `Authorization` header takes precedence: it must be a single one with the scheme Bearer in any case
        (RFC 9110).
        """
        values = [value for name, value in headers if name == "authorization"]
        if values:
            scheme, _, token = values[0].strip(" \t").partition(" ")
            valid = len(values) == 1 and scheme.lower() == "bearer" and self._token_matches(token.lstrip(" "))
            return "bearer" if valid else None
        cookies = ";".join(value for name, value in headers if name == "cookie").split(";")
        pairs = [cookie.strip().partition("=") for cookie in cookies]
        valid = any(name == self.cookie and self._token_matches(value) for name, _, value in pairs)
        return "cookie" if valid else None

    def _token_matches(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode())

    async def _set_token_cookie(self, send: Send, query: dict[str, str]) -> None:
        """Handle the printed link: store the token as a cookie and redirect to the address without it."""
        if not self._token_matches(query.pop("token")):
            await self._send_unauthorized(send, "/")
            return
        cookie = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        location = "/" + (f"?{urlencode(query)}" if query else "")
        await _send_response(send, 303, b"", "text/plain", {"location": location, "set-cookie": cookie})

    async def _send_unauthorized(self, send: Send, path: str) -> None:
        if path.startswith("/api/"):
            reason = "the token is missing or wrong: send 'Authorization: Bearer TOKEN', or open the printed link"
            await _send_error(send, 401, reason)
        else:
            await _send_response(send, 401, UNAUTHORIZED_PAGE.encode(), MEDIA_TYPES[".html"])

    # --- Requests for the API ---

    async def _forward(self, scope: Scope, receive: Receive, send: Send, headers: Mapping[str, str]) -> None:
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            await _send_error(send, 413, f"a body of {length[:20]} bytes: the limit is {MAX_BODY_BYTES:,}")
            return
        body = await _read_body(receive)
        if body is None:  # the client has disconnected
            return
        if len(body) > MAX_BODY_BYTES:
            await _send_error(send, 413, f"a body of more than {MAX_BODY_BYTES:,} bytes")
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *_encode_headers(SECURITY_HEADERS)]
                if b"cache-control" not in names:
                    message["headers"].append((b"cache-control", b"no-store"))
            await send(message)

        if self._application is None:
            self._application = await asyncio.to_thread(self.make_application)
        await _run_until_disconnect(self._application, scope, body, receive, send_with_headers)


# --- Bodies and disconnecting clients ---


async def _read_body(receive: Receive) -> bytes | None:
    """Read the body up to the size limit; return None if the client disconnects first."""
    body = b""
    while len(body) <= MAX_BODY_BYTES:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return body


async def _run_until_disconnect(
    application: Application, scope: Scope, body: bytes, receive: Receive, send: Send
) -> None:
    """Let an application respond to a request with this body; cancel it if the client disconnects first."""
    disconnected = asyncio.create_task(_wait_for_disconnect(receive))
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def whole() -> Message:
        if messages:
            return messages.pop()
        await asyncio.shield(disconnected)
        return {"type": "http.disconnect"}

    responding = asyncio.ensure_future(application(scope, whole, send))
    try:
        await asyncio.wait((responding, disconnected), return_when=asyncio.FIRST_COMPLETED)
        if not responding.done():
            responding.cancel()
        await asyncio.gather(responding, return_exceptions=True)
        if not responding.cancelled() and (error := responding.exception()) is not None:
            raise error
    finally:
        for task in (responding, disconnected):
            task.cancel()
        await asyncio.gather(responding, disconnected, return_exceptions=True)


async def _wait_for_disconnect(receive: Receive) -> None:
    """Wait until the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass


# --- Responses ---


def _encode_headers(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]


async def _send_response(
    send: Send, status: int, body: bytes, media_type: str, extra_headers: Mapping[str, str] | None = None
) -> None:
    headers = {"content-type": media_type, "content-length": str(len(body)), "cache-control": "no-store"}
    encoded = _encode_headers(headers | SECURITY_HEADERS | dict(extra_headers or {}))
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})


async def _send_error(send: Send, status: int, why: str) -> None:
    await _send_response(send, status, json.dumps({"error": why}).encode(), MEDIA_TYPES[".json"])


async def _send_file(send: Send, path: str, *, head: bool) -> None:
    """Send a file of the page; names are looked up among existing files, so that no path leads elsewhere."""
    name = unquote(path).removeprefix("/") or "index.html"
    files = {file.relative_to(PAGE).as_posix(): file for file in PAGE.rglob("*") if file.suffix in MEDIA_TYPES}
    if name not in files:
        await _send_error(send, 404, f"{path[:100]}: file not found")
        return
    body = files[name].read_bytes()
    headers = {"cache-control": "no-cache"} | ({"content-length": str(len(body))} if head else {})
    await _send_response(send, 200, b"" if head else body, MEDIA_TYPES[files[name].suffix], headers)
