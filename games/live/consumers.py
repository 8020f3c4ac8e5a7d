"""Web sockets of rooms and of other pages: they receive frames, and send typed errors and states.

``games.live.play`` plays the moves.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, NoReturn

from channels.consumer import get_handler_name
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import close_old_connections, connection

from beadbox import field_text
from games.accounts.blocks import is_blocked
from games.accounts.identity import principal_of_scope, request_of_scope
from games.accounts.principal import UNKNOWN_PRINCIPAL, Principal
from games.accounts.throttles import Guesses
from games.codes import parse_code
from games.exceptions import (
    BusyError,
    NotACodeError,
    NotAPlayerError,
    PlayError,
    SessionChangedError,
    ThrottledError,
    TooManyGuessesError,
    UnavailableError,
    refusal_of,
)
from games.limits.admission import ADMISSION
from games.live.play import match_draw, match_play_move, match_resign, match_step
from games.live.room_state import UnredactedState, room_group
from games.live.rooms import RoomEntry, is_person_in_room, room_enter, room_reset, room_whole_state_get
from games.live.serializers import FrameError, parse_frame, parse_move_data, parse_step_data
from games.live.states import RoomState
from games.transport.broadcaster import BROKER, broadcaster_open
from games.transport.database_errors import is_database_outage, unavailable_error
from games.transport.dependency_monitor import DEPENDENCIES
from games.transport.metrics import MOVE_SECONDS, REFUSALS

logger = logging.getLogger("games.consumers")

FRAMES_PER_SECOND = 10.0
FRAME_BURST = 30.0
WRITE_FRAMES = ("move", "step", "resign", "draw", "reset")
"""Frames that admission control may refuse."""
CLOSE_NOT_FOUND = 4404
CLOSE_TRY_AGAIN = 1013
CLOSE_TOO_MANY = 4429
CLOSE_BLOCKED = 4403
PRINCIPAL_MAX_AGE_S = 30.0
"""Seconds until a socket's principal is read again: the session may have ended, or the token may have been revoked."""


async def in_thread(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Run database work on a separate thread. On a shared thread, all sockets of the process would wait in a queue.

    The connection returns to the pool in every case. Channels' ``database_sync_to_async`` does unneeded work: it closes
    connections before the call, when none is open, and copies every context variable back from the thread.

    Raises:
        UnavailableError: the database is away or full.
        PlayError: a refusal, or an engine is not ready.
    """
    number = ADMISSION.arrive()

    def work() -> Any:
        try:
            connection.ensure_connection()
            ADMISSION.leave(number)
            return call(*args, **kwargs)
        finally:
            close_old_connections()

    try:
        return await asyncio.to_thread(work)
    except Exception as error:
        if is_database_outage(error):
            raise unavailable_error(error, "a socket's request") from None
        refusal = refusal_of(error)
        if refusal is None or refusal is error:
            raise
        raise refusal from None
    finally:
        ADMISSION.leave(number)


_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def frame_text(kind: str, data: object) -> str:
    """Return the text of an outgoing frame."""
    return _encode({"type": kind, "data": data})


class StateTexts:
    """Cached frames of the last few states. Sockets of a room that receive the same state object send the same text."""

    MAX_TEXTS = 32

    def __init__(self) -> None:
        self._texts: dict[int, tuple[RoomState, str]] = {}

    def text(self, view: RoomState) -> str:
        """Return the frame of a state, which must not change. For the event loop's thread only."""
        state, text = self._texts.get(id(view), (None, ""))
        if state is not view:
            if len(self._texts) >= self.MAX_TEXTS:
                del self._texts[next(iter(self._texts))]
            text = frame_text("state", view)
            self._texts[id(view)] = view, text  # As long as the cache refers to the state, no other object has its id.
        return text


STATE_TEXTS = StateTexts()


class TokenBucket:
    """A token bucket: ``rate`` frames per second, ``burst`` at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        self.level, self.filled_at = burst, time.monotonic()
        self.n_refused = 0
        """Number of consecutive refusals."""

    def take(self) -> bool:
        """Take a token. Return false if the bucket is empty."""
        now = time.monotonic()
        self.level = min(self.burst, self.level + (now - self.filled_at) * self.rate)
        self.filled_at = now
        if self.level < 1:
            self.n_refused += 1
            return False
        self.level -= 1
        self.n_refused = 0
        return True


class FrameConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # Channels has no types
    """Base of the sockets: JSON frames ``{"type", "data"}`` in both directions. An unreadable frame gets an error."""

    group: str | None = None
    frames: ClassVar[tuple[str, ...]] = ("ping",)
    """Types of the frames that clients may send."""
    is_blocked = False
    """Whether the socket was closed because its address is blocked."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.bucket = TokenBucket(FRAMES_PER_SECOND, FRAME_BURST)

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Call the handler of a message.

        Channels' own method first closes old connections, on the one thread that all sockets of a process share. That
        would cost two thread switches for every frame. In this class only :func:`in_thread` uses the database, and
        closes its own connections.
        """
        await getattr(self, get_handler_name(message))(message)

    async def send(self, text_data: str) -> None:
        """Send a text. The socket of an address that was blocked meanwhile closes instead."""
        if is_blocked(self.scope):
            await self._close_blocked()
        else:
            await super().send(text_data)

    async def _close_blocked(self) -> None:
        """Close the socket. Later calls do nothing, since other tasks may still try to send."""
        if not self.is_blocked:
            self.is_blocked = True
            await self.close(CLOSE_BLOCKED)

    async def send_frame(self, kind: str, data: object) -> None:
        """Send one frame ``{"type", "data"}``."""
        await self.send(frame_text(kind, data))

    async def send_error(self, code: str, detail: str, **more: Any) -> None:
        """Send a typed error to this socket only. The socket stays open."""
        REFUSALS.labels("socket", code).inc()
        if self.bucket.n_refused <= 1:  # A client that sends too fast gets each error, but the log gets only one line.
            logger.info(
                "refused: %s", code, extra={"code": code, "account": self.scope.get("observed", {}).get("account")}
            )
        await self.send_frame("error", {"code": code, "detail": detail, **more})

    async def send_refusal(self, error: PlayError) -> None:
        """Send a refusal, with the time to wait if waiting helps."""
        more = {} if error.retry_after_s is None else {"retry_after_s": error.retry_after_s}
        await self.send_error(error.code, str(error), **more)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Parse a frame and pass it to :meth:`handle`. The socket of an address that was blocked meanwhile closes."""
        if is_blocked(self.scope):
            await self._close_blocked()
            await self.disconnect(CLOSE_BLOCKED)
            raise StopConsumer
        if not self.bucket.take():
            await self.send_error("too_many_frames", ThrottledError.message)
            return
        try:
            kind, data = parse_frame(text_data)
            await self.handle(kind, data)
        except FrameError as error:
            await self.send_error(error.code, str(error))
        except PlayError as error:
            await self.send_refusal(error)

    async def listen(self, group: str | None) -> None:
        """Accept the socket and join its group. Without the broker, the client gets states only as answers to pings."""
        broadcaster_open()
        if group is not None:
            try:
                await self.channel_layer.group_add(group, self.channel_name)
                self.group = group
                BROKER.record_success()
            except Exception as error:  # any error of the broker's client
                BROKER.record_failure("join a group", error)
        await self.accept()
        await DEPENDENCIES.join(self)

    async def refuse(self, error: PlayError) -> NoReturn:
        """Send the refusal and close. Later messages of the group are ignored."""
        await self.leave()
        await self.send_refusal(error)
        codes = {UnavailableError: CLOSE_TRY_AGAIN, TooManyGuessesError: CLOSE_TOO_MANY}
        default_code = CLOSE_TRY_AGAIN if error.is_temporary else CLOSE_NOT_FOUND
        await self.close(codes.get(type(error), default_code))
        raise StopConsumer

    async def disconnect(self, code: int) -> None:
        """Leave the group. The player keeps the seat, and can return."""
        await self.leave()

    async def leave(self) -> None:
        """Leave the group, if the socket has joined one."""
        DEPENDENCIES.leave(self)
        if self.group is not None:
            with contextlib.suppress(Exception):  # While the broker is away, there is no group to leave.
                await self.channel_layer.group_discard(self.group, self.channel_name)

    async def handle(self, kind: str, data: dict[str, Any]) -> None:
        """Handle a parsed frame. The base class answers ``ping``.

        Raises:
            FrameError: the type is unknown.
        """
        if kind != "ping":
            valid_types = ", ".join(self.frames)
            raise FrameError(
                "unknown_frame", f"There is no message of the type {kind[:40]!r}. There are these: {valid_types}."
            )
        await self.send_frame("pong", {})


UNKNOWN_SEAT_TEXT = "This is no token of a seat in this room, so you are watching."


class SiteConsumer(FrameConsumer):
    """Socket that tells any page about the state of database and broker, for all visitors alike."""

    channel_layer_alias = ""
    """Empty, because the socket joins no group."""

    async def connect(self) -> None:
        """Accept without a group, so that neither database nor broker is needed."""
        await self.listen(None)


class RoomConsumer(FrameConsumer):
    """Socket that plays in one room and watches it."""

    frames = (*WRITE_FRAMES, "ping")
    person: Principal
    """The principal of this socket, as last read at ``person_read_at``."""
    is_account: bool
    """Whether the principal was an account when it was read. A session or a token can end."""
    person_read_at: float

    async def connect(self) -> None:
        """Join the group first and read the state afterwards, so that no change is missed."""
        try:
            self.code = parse_code(self.scope["url_route"]["kwargs"]["code"])
        except NotACodeError as error:
            await self.listen(None)
            await self.refuse(error)
        await self.listen(room_group(self.code))
        try:
            entry = await in_thread(self._enter)
        except PlayError as error:
            await self.refuse(error)
        self.version = entry.view["version"]
        await self.send_frame("joined", entry.joined)
        if self.person.token and not entry.roles and not entry.is_host:
            await self.send_error(NotAPlayerError.code, UNKNOWN_SEAT_TEXT)

    async def handle(self, kind: str, data: dict[str, Any]) -> None:
        """Handle a frame. The sender gets the new state at once, even without the broker; others by the group."""
        if kind in WRITE_FRAMES and ADMISSION.is_full:
            raise BusyError
        match kind:
            case "move":
                move, ply = parse_move_data(data)
                started_at_s = time.perf_counter()
                view = await in_thread(
                    self._call, lambda person: match_play_move(code=self.code, person=person, move=move, ply=ply)
                )
                MOVE_SECONDS.observe(time.perf_counter() - started_at_s)
            case "step":
                ply, max_plies = parse_step_data(data)
                view = await in_thread(
                    self._call, lambda person: match_step(code=self.code, person=person, ply=ply, max_plies=max_plies)
                )
            case "resign":
                view = await in_thread(self._call, lambda person: match_resign(code=self.code, person=person))
            case "draw":
                view = await in_thread(self._call, lambda person: match_draw(code=self.code, person=person))
            case "reset":
                swap = data.get("swap", False)
                if not isinstance(swap, bool):
                    raise FrameError("malformed_frame", f"swap: {field_text.TRUE_OR_FALSE}")
                view = await in_thread(self._call, lambda person: room_reset(code=self.code, person=person, swap=swap))
            case "ping":
                await self._pong()
                return
            case _:
                await super().handle(kind, data)
                return
        await self.send_state(view)

    async def _pong(self) -> None:
        """Answer a ping. The current state comes first, because the broker may have lost a state."""
        view = await self._redact(await in_thread(room_whole_state_get, code=self.code))
        await self.send_state(view)
        await self.send_frame("pong", {"version": view["version"]})

    async def room_state(self, event: dict[str, Any]) -> None:
        """Send a state from the group, redacted for this socket's principal."""
        await self.send_state(await self._redact(UnredactedState(event["whole"], event["private"])))

    async def send_state(self, view: RoomState) -> None:
        """Send a state unless this socket already has it or a later one."""
        if view["version"] > self.version:
            self.version = view["version"]
            await self.send(STATE_TEXTS.text(view))

    async def _redact(self, state: UnredactedState) -> RoomState:
        """Redact a state for this socket's principal. Only a state with hidden parts needs a new read of it."""
        if state.private and time.monotonic() - self.person_read_at >= PRINCIPAL_MAX_AGE_S:
            try:
                await in_thread(self._person, "read")
            except UnavailableError:  # The principal is unknown for now. The next state reads it again.
                return state.redact_for(UNKNOWN_PRINCIPAL)
            except PlayError:  # The token is invalid. The client continues as an unknown visitor who has the link.
                self.person, self.person_read_at = Principal(channel=self.channel_name), time.monotonic()
        return state.redact_for(self.person)

    def _person(self, token_scope: str) -> Principal:
        """Read the principal again from the database. Raises as :func:`principal_of_scope`."""
        self.person = replace(principal_of_scope(self.scope, token_scope), channel=self.channel_name)
        self.person_read_at = time.monotonic()
        self.is_account = self.person.user_id is not None
        return self.person

    def _enter(self) -> RoomEntry:
        person = self._person("read")
        with Guesses(request_of_scope(self.scope), person.user_id).guard(
            lambda: is_person_in_room(code=self.code, person=person)
        ):
            return room_enter(code=self.code, person=person)

    def _call(self, service: Callable[[Principal], RoomState]) -> RoomState:
        """Call a service with the current principal: a session may have ended, or a token may have been revoked.

        For a guest, the service checks the session as it reads the room.
        """
        if not self.is_account:  # The principal is a guest, or has a seat token, which does not expire.
            with contextlib.suppress(SessionChangedError):
                return service(self.person)
        return service(replace(self._person("play"), session=None))  # The session was read just now.
