"""Connections with deadlines: clients that send slowly, stall or do not read are dropped, and their number is limited.

uvicorn itself only limits idle keep-alive connections.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any, ClassVar

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from riverboat.web.gateway import Application

KEEP_ALIVE_SECONDS = 30  # seconds between two requests
GRACEFUL_SECONDS = 2  # seconds to complete responses at shutdown


class DeadlineProtocol(H11Protocol):
    """HTTP/1.1 protocol of a connection that is closed if the client does not send or read in time."""

    # seconds from the first byte of a request, or from connecting, to the end of the headers
    head_seconds: ClassVar[float] = 10.0
    body_seconds: ClassVar[float] = 30.0  # seconds from the end of the headers to the end of the body
    send_seconds: ClassVar[float] = 30.0  # time that a client may leave a response unread once the buffers are full
    max_connections: ClassVar[int] = 1_200  # open connections; further ones are closed immediately

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._expected: str | None = None  # what the client has to send: head, body, or nothing
        self._deadline: asyncio.TimerHandle | None = None
        self._unread_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.max_connections:
            transport.abort()
        else:
            self._expect("head")

    def data_received(self, data: bytes) -> None:
        """Process received data and update the deadline."""
        super().data_received(data)
        self._update_deadline(began=True)

    def on_response_complete(self) -> None:
        """Wait for the next request, or for the rest of one that was answered early."""
        super().on_response_complete()
        self._update_deadline(began=False)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadlines."""
        self._expect(None)
        self.resume_writing()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Start the deadline of a client that does not read."""
        super().pause_writing()
        if self._unread_deadline is None:
            self._unread_deadline = self.loop.call_later(self.send_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the deadline once the client reads."""
        if self._unread_deadline is not None:
            self._unread_deadline.cancel()
            self._unread_deadline = None
        super().resume_writing()

    def _update_deadline(self, *, began: bool) -> None:
        """Set the deadline for the missing part of a request; idle connections have the keep-alive limit.

        `began`: whether the client has sent data since its last response.
        """
        state = self.conn.their_state
        begins_head = state is h11.IDLE and began and self.timeout_keep_alive_task is None
        self._expect("body" if state is h11.SEND_BODY else "head" if begins_head else None)

    def _expect(self, what: str | None) -> None:
        if what == self._expected:
            return
        if self._deadline is not None:
            self._deadline.cancel()
        self._expected, self._deadline = what, None
        if what is not None:
            seconds = self.head_seconds if what == "head" else self.body_seconds
            self._deadline = self.loop.call_later(seconds, self.transport.abort)


class CancellingServer(uvicorn.Server):
    """A server that calls `stop` at shutdown, to cancel computations, before it completes its last responses."""

    def __init__(self, config: uvicorn.Config, stop: Callable[[], None]) -> None:
        super().__init__(config)
        self.stop = stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Cancel computations, then complete the remaining responses."""
        self.stop()
        await super().shutdown(sockets)


def make_server(
    application: Application, stop: Callable[[], None], protocol: type[DeadlineProtocol] = DeadlineProtocol
) -> CancellingServer:
    """Return a uvicorn server for an ASGI application; it calls `stop` at shutdown to cancel computations."""
    config = uvicorn.Config(
        application, http=protocol, ws="none", log_level="warning", access_log=False, lifespan="off", server_header=False,
        backlog=2048, timeout_keep_alive=KEEP_ALIVE_SECONDS, timeout_graceful_shutdown=GRACEFUL_SECONDS,
    )  # fmt: skip
    return CancellingServer(config, stop)
