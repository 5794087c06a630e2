"""Connections with deadlines: a client that trickles, stalls or does not read is dropped, and there are only so many.

uvicorn has a limit for idle connections that are kept alive, and for nothing else.
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

MOST_CONNECTIONS = 1_200  # at a time; more are closed at once
HEAD_SECONDS = 10.0  # from the first byte of a request, or the opening of the connection, to the end of its headers
BODY_SECONDS = 30.0  # from there to the end of its body
SEND_SECONDS = 30.0  # that a client may leave an answer unread once the buffers are full
KEEP_ALIVE = 30  # seconds between two requests
GRACEFUL = 2  # seconds that answers have when the server ends


class DeadlineProtocol(H11Protocol):
    """HTTP with a deadline for whatever the client has to do next."""

    head_seconds: ClassVar[float] = HEAD_SECONDS
    body_seconds: ClassVar[float] = BODY_SECONDS
    send_seconds: ClassVar[float] = SEND_SECONDS
    most: ClassVar[int] = MOST_CONNECTIONS

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._awaited: str | None = None  # what the client owes: head, body, or nothing
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, if there are not too many."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.abort()
        else:
            self._await("head")

    def data_received(self, data: bytes) -> None:
        """Read what has come, and see what is missing."""
        super().data_received(data)
        self._look(began=True)

    def on_response_complete(self) -> None:
        """Wait for the next request; for the rest of this one, where it was answered before its end."""
        super().on_response_complete()
        self._look(began=False)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadlines."""
        self._await(None)
        self.resume_writing()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not read: wait so long, and no longer."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(self.send_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """It has read."""
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
        super().resume_writing()

    def _look(self, *, began: bool) -> None:
        """Set the deadline for what is missing of a request. An idle connection has that of keep-alive."""
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            self._await("body")
        elif state is h11.IDLE and began and self.timeout_keep_alive_task is None:
            self._await("head")
        else:
            self._await(None)

    def _await(self, what: str | None) -> None:
        if what == self._awaited:
            return
        if self._deadline is not None:
            self._deadline.cancel()
        self._awaited, self._deadline = what, None
        if what is not None:
            seconds = self.head_seconds if what == "head" else self.body_seconds
            self._deadline = self.loop.call_later(seconds, self.transport.abort)


class Listener(uvicorn.Server):
    """A server that stops what it computes before it waits for its last answers."""

    def __init__(self, config: uvicorn.Config, stop: Callable[[], None]) -> None:
        super().__init__(config)
        self.stop = stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop computing, then answer what is left."""
        self.stop()
        await super().shutdown(sockets)


def listener(
    door: Application, stop: Callable[[], None] = lambda: None, protocol: type[DeadlineProtocol] = DeadlineProtocol
) -> Listener:
    """Return a server for a door; `stop` ends what is computed."""
    config = uvicorn.Config(
        door, http=protocol, ws="none", log_level="warning", access_log=False, lifespan="off", server_header=False,
        backlog=2048, timeout_keep_alive=KEEP_ALIVE, timeout_graceful_shutdown=GRACEFUL,
    )  # fmt: skip
    return Listener(config, stop)
