"""WebSocket consumer of classes: it sends the table of a class; clients send only pings."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import ClassVar, cast
from urllib.parse import parse_qs

from games.accounts.principal import Principal
from games.exceptions import PlayError
from games.live.consumers import PRINCIPAL_MAX_AGE_S, in_thread
from learning.consumers import WatchConsumer
from learning.kinds.class_table import classroom_table, record_closed_pupil_page, record_pupil_page, redact_table
from learning.models import Classroom, Participant
from learning.selectors.classrooms import classroom_for_viewer, classroom_with_final
from learning.states import ClassTable

logger = logging.getLogger("learning.consumers")

TABLE_EVERY_S = 1.0
NOTE_EVERY_S = 15.0


class ClassTicker:
    """Reads the table of a class once a second for the sockets of this process, until the last of them is closed."""

    tickers: ClassVar[dict[int, ClassTicker]] = {}

    def __init__(self, classroom_id: int) -> None:
        self.classroom_id = classroom_id
        self.sockets = set[ClassConsumer]()
        self.task = asyncio.create_task(self._run())

    @classmethod
    def join(cls, socket: ClassConsumer) -> None:
        """Send the table to this socket from now on."""
        ticker = cls.tickers.get(socket.number) or cls.tickers.setdefault(socket.number, cls(socket.number))
        ticker.sockets.add(socket)

    @classmethod
    def leave(cls, socket: ClassConsumer) -> None:
        """Send nothing more to this socket."""
        ticker = cls.tickers.get(socket.number)
        if ticker is not None:
            ticker.sockets.discard(socket)
            if not ticker.sockets:
                ticker.task.cancel()
                del cls.tickers[socket.number]

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(TABLE_EVERY_S)
            try:
                table = await in_thread(self._table)
                for socket in list(self.sockets):
                    await socket.show(table)
            except PlayError:  # the database is away
                continue
            except Exception:  # no code awaits this task, so an error would go unnoticed
                logger.exception("the table of class %d could not be sent", self.classroom_id)

    def _table(self) -> ClassTable | None:
        classroom = classroom_with_final(self.classroom_id)
        return None if classroom is None else classroom_table(classroom)


class ClassConsumer(WatchConsumer):
    """Socket of a class: sends its table at most once a second, and to ``?only=status`` the status alone."""

    group_of = staticmethod(lambda _number: None)
    shown: Mapping[str, object] | None = None
    """The state last sent to this socket; ``None`` before the first."""
    pupil: Participant | None = None
    noted_at = 0.0
    """Time (``time.monotonic``) at which the pupil was last noted as present."""

    def found(self) -> Classroom:
        viewer = Principal.of(self.user_now())
        classroom, self.pupil = classroom_for_viewer(viewer, self.number)
        self.is_teacher = viewer.user_id == classroom.teacher_id
        return classroom

    def joined(self) -> Mapping[str, object]:
        table = self.for_viewer({"table": classroom_table(self.found())})
        self._note_pupil()
        return table

    def note(self, view: Mapping[str, object]) -> None:
        self.shown = view
        ClassTicker.join(self)

    async def show(self, table: ClassTable | None) -> None:
        """Send a table that differs from the last one. Ask for access again if the class or the pupil is gone."""
        if table is None or (self.pupil and self.pupil.number not in [row["number"] for row in table["rows"]]):
            self.asked_at = -PRINCIPAL_MAX_AGE_S
            await self.tell("table", {"table": table})
        elif self.for_viewer({"table": table}) != self.shown or time.monotonic() - self.asked_at >= PRINCIPAL_MAX_AGE_S:
            await self.tell("table", {"table": table})
        if self.pupil and time.monotonic() - self.noted_at >= NOTE_EVERY_S:
            await in_thread(self._note_pupil)

    def for_viewer(self, data: dict[str, object]) -> Mapping[str, object]:
        table: ClassTable = redact_table(cast("ClassTable", data["table"]), is_teacher=self.is_teacher)
        is_short = parse_qs(self.scope.get("query_string", b"").decode("latin1")).get("only") == ["status"]
        return {"status": table["status"], "locked": table["locked"]} if is_short else table

    async def send_frame(self, kind: str, data: object) -> None:
        """Send a frame, and remember a table as shown."""
        if kind == "table":
            self.shown = cast("Mapping[str, object]", data)
        await super().send_frame(kind, data)

    async def handle(self, kind: str, data: dict[str, object]) -> None:
        """On a ping, note the pupil as present."""
        if kind == "ping":
            await in_thread(self._note_pupil)
        await super().handle(kind, data)

    def _note_pupil(self) -> None:
        self.noted_at = time.monotonic()
        if self.pupil is not None:
            record_pupil_page(self.pupil.pk, self.channel_name)

    async def leave(self) -> None:
        """Leave the class; the pupil counts as gone at once."""
        ClassTicker.leave(self)
        if self.pupil is not None:
            await asyncio.to_thread(record_closed_pupil_page, self.pupil.pk, self.channel_name)
            self.pupil = None
        await super().leave()
