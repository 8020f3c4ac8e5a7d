"""Reads: the state of a room for REST and sockets alike, the layout of a game, lists for the lobby."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import cache, lru_cache, reduce
from operator import or_
from typing import Any, NamedTuple, TypeVar, cast
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection, transaction
from django.db.models import DateTimeField, Exists, Model, OuterRef, Prefetch, Q, QuerySet, Subquery, UUIDField
from django.db.models.expressions import Combinable
from django.utils import timezone

from beadbox.rules.game import Game, GuidePart
from beadbox.rules.layout import Layout
from beadbox.rules.outcome import Side
from beadbox.rules.registry import family_games
from games.accounts.principal import GUEST, RoomsOf, SeenSession, Viewer
from games.codes import CODE_FORM
from games.exceptions import MatchNotFoundError, RoomNotFoundError, SessionChangedError
from games.live.players import BESIDE, PLAYERS, Offer
from games.live.states import (
    Action,
    BoardState,
    Ending,
    GameShape,
    GuidePicture,
    Insight,
    LayoutShape,
    MatchBoards,
    MoveState,
    OpponentShape,
    PositionState,
    PrivateSeat,
    RoomState,
    SeatState,
    Status,
)
from games.models import HUMAN, Match, MatchStatus, Ply, Room, Seat

WAITS_FOR = timedelta(hours=1)
"""How long the lobby offers a seat that nobody has taken; the link goes on working."""

LIVE_FOR = timedelta(minutes=10)
"""How long after its last move the lobby takes a match for a live one."""

OPEN_FOR = timedelta(hours=1)
"""A room in which nobody has moved for this long is taken for abandoned: it stays, and counts as open no more."""

RESIGNATION = "resignation"

EMPTY_BOX = "empty_box"

HIDDEN = "a machine that is not public"
"""What a machine is called, within a sentence, to those who may not see it."""

HIDDEN_NAME = HIDDEN[0].upper() + HIDDEN[1:]
"""The same as the name of a seat."""

MATCH_REASONS = {
    RESIGNATION: "the loser resigned",
    EMPTY_BOX: "the machine found no bead in its box and resigned",
}
"""Why a match ended where it is not the rules that say so."""


@contextmanager
def snapshot() -> Iterator[None]:
    """Everything read in this block is of one moment, whatever is written meanwhile.

    A service holds the room's lock instead; inside its transaction this does nothing.
    """
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def room_get(code: str) -> Room:
    """The room with this code.

    Raises:
        RoomNotFoundError: there is none.
    """
    # What cannot be a code never reaches the database, which refuses some characters altogether.
    room = Room.objects.filter(code=code).first() if CODE_FORM.fullmatch(code) else None
    if room is None:
        raise RoomNotFoundError
    return room


MATCH_CURRENT = """
    SELECT to_json(room), to_json(latest), room.version = seen.version, {session},
        (SELECT json_agg(seat ORDER BY seat.side) FROM games_seat AS seat WHERE seat.match_id = latest.id),
        {more}{beside}
    FROM games_room AS room JOIN games_room AS seen ON seen.id = room.id
        CROSS JOIN LATERAL (SELECT * FROM games_match WHERE room_id = room.id ORDER BY number DESC LIMIT 1) AS latest
    WHERE room.code = %s"""

PLIES = "(SELECT json_agg(ply ORDER BY ply.number) FROM games_ply AS ply WHERE ply.match_id = latest.id)"

NEXT_IDS = "json_build_array(nextval('games_match_id_seq'), nextval('games_seat_id_seq'), nextval('games_seat_id_seq'))"
"""Ids for a new match and its seats, so that everything that refers to them can be stored with them."""

ROOM_ID = "nextval('games_room_id_seq')"

CODE_TAKEN = "EXISTS (SELECT FROM games_room WHERE code = %s)"

SESSION_STANDS = "EXISTS (SELECT FROM django_session WHERE session_key = %s AND session_data = %s AND expire_date > %s)"


def match_current(
    code: str, *, lock: bool = False, session: SeenSession | None = None, to_follow: bool = False
) -> Match:
    """The match that is being played in a room, or was played last, with its room, seats, plies, and who sits there.

    One statement: it stands at the beginning of every move. With ``lock`` the room is locked for writing (call inside
    a transaction). Who had to wait for the lock sees the room as it is now, and the rest as it was when they began to
    wait; as every change raises the room's version they see that too, and read once more, with the lock.

    Args:
        code: the room's.
        lock: whether it is locked.
        session: the session that who asks was known by.
        to_follow: whether a new match is to follow: then its ids are read, and no plies.

    Raises:
        RoomNotFoundError: no room has this code.
        SessionChangedError: the ``session`` that somebody is known by is another by now, or has ended.
    """
    stands, values = "true", list[Any]()
    if session is not None:
        stands, values = SESSION_STANDS, [*session, timezone.now()]
    statement = MATCH_CURRENT.format(
        session=stands, more=NEXT_IDS if to_follow else PLIES, beside="".join(f", ({one.query})" for one in BESIDE)
    )
    if lock:
        statement += " FOR NO KEY UPDATE OF room"
    if not CODE_FORM.fullmatch(code):
        raise RoomNotFoundError
    with connection.cursor() as cursor:
        found = cursor.execute(statement, [*values, code]).fetchone()
        if found is not None and not found[2]:
            found = cursor.execute(statement, [*values, code]).fetchone()
    if found is None:
        raise RoomNotFoundError
    room, match, _, session_stands, sitting, more, *beside = found
    if not session_stands:
        raise SessionChangedError
    current = _row(Match, match)
    current.is_held = lock
    current.room = _row(Room, room)
    current.sitting = [_row(Seat, seat) for seat in sitting]
    for seat in current.sitting:
        seat.match = current
    if to_follow:
        current.next_ids = more
    else:
        current.played = [_row(Ply, ply) for ply in more or ()]
        for ply in current.played:
            ply.match = current
    for one, value in zip(BESIDE, beside, strict=True):
        one.take(current, value)
    return current


RowT = TypeVar("RowT", bound=Model)

NOT_JSON = (DateTimeField, UUIDField)


def _row(model: type[RowT], row: dict[str, Any]) -> RowT:
    """A row that PostgreSQL wrote as JSON."""
    names, columns, not_json = _fields(model)
    values = [row[column] for column in columns]
    for place, to_python in not_json:
        values[place] = to_python(values[place])
    return model.from_db(DEFAULT_DB_ALIAS, names, values)


@cache
def _fields(model: type[Model]) -> tuple[list[str], list[str], list[tuple[int, Callable[[Any], Any]]]]:
    """Attributes and columns of a model, and by place what makes those fields that JSON has as texts."""
    fields = model._meta.concrete_fields
    texts: list[tuple[int, Callable[[Any], Any]]] = [
        (place, field.to_python) for place, field in enumerate(fields) if isinstance(field, NOT_JSON)
    ]
    return [field.attname for field in fields], [str(field.column) for field in fields], texts


def match_latest(room: Room) -> Match:
    """The match that is being played in a room at hand, or was played last."""
    match = room.matches.order_by("-number")[0]
    match.room = room
    return match


def seats_read(match: Match) -> list[Seat]:
    """The seats of a match in order of side, read once for each object."""
    if match.sitting is None:
        match.sitting = list(match.seats.order_by("side"))
    return match.sitting


def plies_read(match: Match) -> list[Ply]:
    """The plies of a match in order, read once for each object."""
    if match.played is None:
        match.played = list(match.plies.order_by("number"))
    return match.played


def swap_allowed(seats: list[Seat]) -> bool:
    """Whether somebody sits here, and every automated player among the seats could play the other side."""
    anybody = any(seat.is_human for seat in seats)
    return anybody and all(PLAYERS[s.automaton].can_sit(s, Side(s.side).other) for s in seats if s.automaton)


def role_of(match: Match, side: int) -> str:
    """What the game calls a side: ``X``, ``O``."""
    return match.room.game_rules.look.layout.roles[side]


def reason_of(match: Match) -> str:
    """Why the match ended, in words a child understands."""
    termination = match.termination
    return MATCH_REASONS.get(termination) or match.room.game_rules.look.reasons[termination]


@dataclass(frozen=True, slots=True)
class State:
    """The state of a room, whole, and what each reader of it is :meth:`told`. Nothing else of it leaves the server."""

    whole: RoomState
    private: list[PrivateSeat]
    """The seats whose machine is not for everybody. JSON, as the state is."""

    def told(self, viewer: Viewer) -> RoomState:
        """The state without what this viewer may not know. Reads nothing from the database."""
        hidden = {
            one["side"]: PLAYERS[one["player"]]
            for one in self.private
            if not PLAYERS[one["player"]].may_see(viewer, one["audience"])
        }
        if not hidden:
            return self.whole
        seats = [_seat_told(seat) if seat["side"] in hidden else seat for seat in self.whole["seats"]]
        insight = self.whole["learning"]
        if insight is not None:
            machines = {seat["role"]: seat["machine"] for seat in seats if seat["machine"] is not None}
            insight = next(iter(hidden.values())).insight_told(insight, machines)
        outcome = self.whole["outcome"]
        if outcome is not None and outcome["termination"] == EMPTY_BOX:
            losers = {seat["side"] for seat in seats if seat["role"] != outcome["winner"]}
            if losers & hidden.keys():  # what is in its boxes is not for this viewer
                outcome = {**outcome, "termination": RESIGNATION, "reason": MATCH_REASONS[RESIGNATION]}
        return {**self.whole, "seats": seats, "learning": insight, "outcome": outcome}


def _seat_told(seat: SeatState) -> SeatState:
    """A seat without its machine; a person who has taken it over keeps their name."""
    name = seat["name"] if seat["takes_over"] else HIDDEN_NAME
    return {**seat, "name": name, "machine": None, "hidden": True}


def room_state(room: Room, match: Match | None = None) -> State:
    """The state of a room for all who look; ``match`` as for :func:`room_view`."""
    match = match or match_latest(room)
    whole = room_view(room, match)
    seats = [seat for seat in seats_read(match) if seat.automaton]
    asked = ((seat, PLAYERS[seat.automaton].audience(seat)) for seat in seats)
    private: list[PrivateSeat] = [
        {"side": seat.side, "player": seat.automaton, "audience": audience}
        for seat, audience in asked
        if audience is not None
    ]
    return State(whole, private)


def room_view(room: Room, match: Match | None = None) -> RoomState:
    """The state of a room as docs/protocol.md describes it, whole: :func:`room_state` knows who may be told what.

    In a fixed number of queries.

    A service that has just changed the room's latest match passes it, with the seats it has read.
    """
    match = match or match_latest(room)
    game = room.game_rules
    shown = (_position_kept if game.takes_boxes else _position_shown)(
        game, match.position, match.status == MatchStatus.PLAYING
    )
    seats, plies = seats_read(match), plies_read(match)
    roles = game.look.layout.roles
    return {
        **shown,
        "code": room.code,
        "game": room.game,
        "number": match.number,
        "version": room.version,
        "status": cast("Status", match.status),
        "ply": match.n_plies,
        "thinking": match.answer_by is not None,
        "last_move": plies[-1].move if plies else None,
        "outcome": None if not match.is_over else _outcome(match),
        "seats": [
            {
                "role": roles[seat.side],
                "side": seat.side,
                "kind": seat.player,
                "takes_over": bool(seat.takes_over),
                "name": seat.name,
                "taken": not seat.is_free,
                "machine": PLAYERS[seat.automaton].describe(seat) if seat.automaton else None,
                "hidden": False,
            }
            for seat in seats
        ],
        "moves": list(_moves(game, plies)),
        "can_swap": swap_allowed(seats),
        "exhibition": room.is_exhibition,
        "learning": _insight(match, seats),
    }


def _position_shown(game: Game[Any, Any], text: str, playing: bool) -> PositionState:
    """What the state says of the position alone; nobody changes any of it."""
    position = game.decode(text)
    legal = game.legal_moves(position) if playing else ()
    cells = game.look.layout.cells
    return {
        "board": list(game.pieces(position)),
        "position": text,
        "turn": game.look.layout.roles[game.side_to_move(position)] if playing else None,
        "legal_moves": [game.format_move(move) for move in legal],
        "paths": {game.format_move(move): game.look.path_ids(move) for move in legal},
        "actions": {
            game.format_move(move): _action(game, position, move) for move in legal if game.look.kind(move) != "move"
        },
        "notices": dict(game.look.notices(position)) if playing else {},
        "captured": _captured(game, position),
        "winning_cells": [cells[cell].id for cell in game.look.winning_cells(position)],
    }


_position_kept = lru_cache(maxsize=4096)(_position_shown)
"""The same of games small enough for boxes, whose matches go through the same few positions."""


def _moves(game: Game[Any, Any], plies: list[Ply]) -> Iterator[MoveState]:
    """The moves of a match, told as they were played: each from the board that it was made on."""
    step, position = _step_kept if game.takes_boxes else _step, game.initial_position()
    for ply in plies:
        path, name, piece, position = step(game, position, ply.move)
        yield {
            "ply": ply.number,
            "role": game.look.layout.roles[ply.side],
            "move": ply.move,
            "path": path,
            "name": name,
            "piece": piece,
        }


def _step(game: Game[Any, Any], position: Any, text: str) -> tuple[list[str], str, str | None, Any]:
    """Of a move: the cells that it touches, its words, its piece, and the position after it. Nobody changes any."""
    move = game.parse_move(text)
    path, name, piece = game.look.path_ids(move), game.look.tell_move(position, move), game.look.mover(position, move)
    return path, name, piece, game.apply(position, move)


_step_kept = lru_cache(maxsize=4096)(_step)
"""Of the same games. A position of a game with history is long, and looking it up would take longer than the step."""


def match_numbered(room: Room, number: int) -> Match:
    """The match of a room that has this number.

    Raises:
        MatchNotFoundError: there has been none, or it was so long ago that it is deleted.
    """
    match = room.matches.filter(number=number).first()
    if match is None:
        raise MatchNotFoundError(room.code, number)
    match.room = room
    return match


def room_positions(code: str, after: int = -1, match: int | None = None) -> MatchBoards:
    """The boards of a match, from before its first move to after its last (docs/protocol.md).

    ``match`` is its number, the latest of the room if left out; ``after`` leaves out the boards up to that ply. The
    moves are applied one after the other: a stored position of a game with history would have to be read from its
    beginning, each longer than the one before.

    Raises:
        RoomNotFoundError, MatchNotFoundError.
    """
    with snapshot():
        room = room_get(code)
        played = match_latest(room) if match is None else match_numbered(room, match)
        moves = list(played.plies.values_list("move", flat=True))
    return {
        "number": played.number,
        "positions": [one for one in _boards(room.game_rules, moves) if one["ply"] > after],
    }


def _boards(game: Game[Any, Any], moves: list[str]) -> Iterator[BoardState]:
    """The board before the first of these moves and after each, as it is shown."""
    position = game.initial_position()
    path: list[str] = []
    for ply, text in enumerate([*moves, None]):
        yield {
            "ply": ply,
            "board": list(game.pieces(position)),
            "last_cells": path,
            "captured": _captured(game, position),
            "notices": {} if game.is_terminal(position) else dict(game.look.notices(position)),
        }
        if text is not None:
            move = game.parse_move(text)
            path, position = game.look.path_ids(move), game.apply(position, move)


def _captured(game: Game[Any, Any], position: Any) -> dict[str, list[str]]:
    """The pieces that each role has lost."""
    return dict(zip(game.look.layout.roles, map(list, game.look.captured(position)), strict=True))


def _action(game: Game[Any, Any], position: Any, move: Any) -> Action:
    """An action that is no plain move: its kind, its words, and the piece as it will be."""
    after = game.pieces(game.apply(position, move))[game.path(move)[-1]]
    return {"kind": game.look.kind(move), "name": game.look.describe_action(position, move), "piece": after}


def machines_managed(room: Room, user: Any) -> list[Any]:
    """The ids of those machines at the board that the account, or the visitor, may change."""
    if Viewer.of(user) == GUEST:
        return []
    seats = [seat for seat in seats_read(match_latest(room)) if seat.automaton]
    managed = [seat for seat in seats if PLAYERS[seat.automaton].manages(seat, user)]
    machines = [PLAYERS[seat.automaton].describe(seat) for seat in managed]
    return [machine["id"] for machine in machines if machine]


def _outcome(match: Match) -> Ending:
    winner = None if match.winner is None else role_of(match, match.winner)
    return {"winner": winner, "termination": match.termination, "reason": reason_of(match)}


def _insight(match: Match, seats: list[Seat]) -> Insight | None:
    """The first word any automated player has to say of how it chose: those who may learn from it speak first."""
    for slug in sorted({seat.automaton for seat in seats} - {""}, key=lambda slug: (not PLAYERS[slug].learns, slug)):
        insight = PLAYERS[slug].insight(match, [seat for seat in seats if seat.automaton == slug])
        if insight is not None:
            return insight
    return None


def game_view(game: Game[Any, Any]) -> GameShape:
    """Everything needed to draw and start a game (docs/protocol.md, the layout of a game)."""
    layout = game.look.layout
    return {
        "slug": game.slug,
        "family": game.family,
        "variant": game.variant,
        "variants": [
            {
                "slug": one.slug,
                "name": one.name,
                "variant": one.variant,
                "columns": one.look.layout.columns,
                "rows": one.look.layout.rows,
            }
            for one in family_games(game.family)
        ],
        "name": game.name,
        "summary": game.summary,
        "start": game.encode(game.initial_position()),
        "sides": [{"role": role, "name": name} for role, name in zip(layout.roles, layout.role_names, strict=True)],
        "notation": {
            "moves": [game.format_move(move) for move in game.legal_moves(game.initial_position())],
            "position": game.look.notation,
        },
        "layout": _layout_view(layout),
        "guide": [
            {"title": part.title, "words": part.words, "picture": _guide_picture(game, part)}
            for part in game.look.guide
        ],
        "boxes": game.takes_boxes,
        "has_engine": any(player.advises(game) for player in PLAYERS.values()),
        "has_actions": game.look.has_actions,
        "plain_words": game.look.plain_words,
        "legend": game.look.legend,
        "additions": [
            {"slug": slug, "name": addition.name, "summary": addition.summary, "added": slug in game.added}
            for slug, addition in game.additions.items()
        ],
        "opponents": opponent_list(game),
    }


def _layout_view(layout: Layout) -> LayoutShape:
    return {
        "columns": layout.columns,
        "rows": layout.rows,
        "shape": layout.shape,
        "roles": list(layout.roles),
        "role_names": list(layout.role_names),
        "cells": [
            {
                "id": cell.id,
                "name": cell.name,
                "mark": cell.mark,
                "x": cell.x,
                "y": cell.y,
                "zone": cell.zone,
                "goal": cell.goal,
            }
            for cell in layout.cells
        ],
        "pieces": {text: asdict(look) for text, look in layout.pieces.items()},
        "cell_words": layout.cell_words,
        "badges": list(layout.badges or layout.roles),
        "coordinates": layout.coordinates,
        "prompts": list(layout.prompts),
    }


def _guide_picture(game: Game[Any, Any], part: GuidePart[Any, Any]) -> GuidePicture | None:
    """The picture of a part: lit is what has won, or else the piece whose moves the dots show."""
    if part.position is None:
        return None
    paths = [game.look.path_ids(move) for move in part.moves]
    movers = {path[0] for path in paths if len(path) > 1}
    winning = [game.look.layout.cells[cell].id for cell in game.look.winning_cells(part.position)]
    return {
        "board": list(game.pieces(part.position)),
        "lit": winning or (sorted(movers) if len(movers) == 1 else []),
        "dots": sorted({path[-1] for path in paths}),
    }


def game_picture(game: Game[Any, Any]) -> dict[str, Any]:
    """What ``static/js/boards.js`` draws a picture of the game from: its board, and what stands there in its scene."""
    return {"layout": _layout_view(game.look.layout), "pieces": game.pieces(game.look.scene())}


def opponent_list(game: Game[Any, Any]) -> list[OpponentShape]:
    """The opponents that can be asked for by name in a game, a human first."""
    return [_shown(HUMAN, Offer("A friend", "Send a friend a link and play each other.")), *player_list(game)]


def player_list(game: Game[Any, Any]) -> list[OpponentShape]:
    """The automated players that can be asked for by name in a game."""
    offers = ((player.slug, player.offer(game)) for player in PLAYERS.values())
    return [_shown(slug, offer) for slug, offer in offers if offer is not None]


def _shown(slug: str, offer: Offer) -> OpponentShape:
    return {"slug": slug, "name": offer.name, "summary": offer.summary, "whom": offer.whom, "elo": offer.elo}


def _seen(viewer: Viewer) -> Combinable:
    """Of a match: there is no machine in it that the viewer may not see. What has one is in no list for them."""
    unseen = {hidden for player in PLAYERS.values() if (hidden := player.unseen(viewer)) is not None}
    return ~Exists(Seat.objects.filter(reduce(or_, unseen, Q(pk__in=[])), match=OuterRef("pk")))


def _open_matches(status: MatchStatus, within: timedelta, viewer: Viewer) -> QuerySet[Match]:
    return (
        Match.objects.filter(_seen(viewer), status=status, room__changed_at__gte=timezone.now() - within)
        .select_related("room")
        .prefetch_related(Prefetch("seats", Seat.objects.order_by("side")))
        .order_by("-room__changed_at", "-pk")
    )


def match_list_waiting(viewer: Viewer, limit: int = 10) -> list[Match]:
    """Matches with a free seat, opened not long ago, newest first, seats prefetched."""
    return list(_open_matches(MatchStatus.WAITING, WAITS_FOR, viewer)[:limit])


def match_list_live(viewer: Viewer, limit: int = 5) -> list[Match]:
    """Matches being played that had a move not long ago, liveliest first, seats prefetched."""
    moved = Ply.objects.filter(match=OuterRef("pk"), played_at__gte=timezone.now() - LIVE_FOR)
    # A room remembers its last change to the minute, and a change may be another than a move.
    return list(
        _open_matches(MatchStatus.PLAYING, LIVE_FOR + timedelta(minutes=1), viewer).filter(Exists(moved))[:limit]
    )


def match_list_own(viewer: Viewer, limit: int = 3) -> list[Match]:
    """Matches in which this account or guest sits that wait or are played, liveliest first, seats prefetched."""
    rooms = rooms_open(rooms_of(user_id=viewer.user_id, guest=viewer.guest))
    return list(
        Match.objects.filter(room__in=rooms, status__in=(MatchStatus.WAITING, MatchStatus.PLAYING))
        .select_related("room")
        .prefetch_related(Prefetch("seats", Seat.objects.order_by("side")))
        .order_by("-room__changed_at", "-pk")[:limit]
    )


def rooms_of(*, user_id: int | None, guest: UUID | None) -> QuerySet[Room]:
    """The rooms in which this person has a seat, or that they host.

    One set and the other: where either is asked for, PostgreSQL asks each room that there is.
    """
    if user_id is None and guest is None:
        return Room.objects.none()
    seats = Q(user_id=user_id) if user_id is not None else Q(guest=guest)
    hosted = Q(host_id=user_id) if user_id is not None else Q(host_guest=guest)
    sat = Seat.objects.filter(seats).values("match__room_id")
    return Room.objects.filter(pk__in=sat.union(Room.objects.filter(hosted).values("pk")))


def rooms_open(rooms: QuerySet[Room]) -> QuerySet[Room]:
    """Those of the rooms whose match waits or is being played, and had a move of late (:data:`OPEN_FOR`)."""
    unfinished = Match.objects.filter(room=OuterRef("pk")).exclude(status=MatchStatus.FINISHED)
    return rooms.filter(Exists(unfinished), changed_at__gte=timezone.now() - OPEN_FOR)


IS_OF = {
    "account": """room.id IN (
        SELECT room_id FROM games_match JOIN games_seat ON match_id = games_match.id WHERE user_id = %s
        UNION SELECT id FROM games_room WHERE host_id = %s)""",
    "guest": """room.id IN (
        SELECT room_id FROM games_match JOIN games_seat ON match_id = games_match.id WHERE guest = %s
        UNION SELECT id FROM games_room WHERE host_guest = %s)""",
    "address": "room.opened_from = %s",
}
"""Whether a room is of an account, or of a guest (:func:`rooms_of`), or was opened from an address."""

OPEN_COUNT = """
    (SELECT count(*) FROM games_room AS room WHERE {} AND room.changed_at >= %s
        AND EXISTS (SELECT FROM games_match WHERE room_id = room.id AND status <> 'finished'))"""

GOING_ON = """
    SELECT to_json(room) FROM games_room AS room
    WHERE {} AND room.opponent = %s AND room.machine = %s AND room.changed_at >= %s
        AND EXISTS (SELECT FROM games_match WHERE room_id = room.id AND status = 'playing')
    ORDER BY room.changed_at DESC, room.id DESC LIMIT 1"""


def rooms_where(whose: RoomsOf) -> tuple[str, list[Any]]:
    """The condition that a row called ``room`` is one of theirs, and its values."""
    kind, who = whose
    return IS_OF[kind], [who] * IS_OF[kind].count("%s")


def rooms_open_count(*whose: RoomsOf) -> list[int]:
    """How many :func:`rooms_open` there are of each.

    One plain statement for all, as it is asked whenever a match begins.
    """
    if not whose:
        return []
    counts, values = _open_counts(whose)
    with connection.cursor() as cursor:
        return list(cursor.execute(f"SELECT {', '.join(counts)}", values).fetchone())


def _open_counts(whose: Sequence[RoomsOf]) -> tuple[list[str], list[Any]]:
    """The columns of a statement that counts :func:`rooms_open` of each, and its values."""
    since, counts, values = timezone.now() - OPEN_FOR, list[str](), list[Any]()
    for one in whose:
        is_theirs, who = rooms_where(one)
        counts.append(OPEN_COUNT.format(is_theirs))
        values += [*who, since]
    return counts, values


def room_going_on(whose: RoomsOf, *, opponent: str, machine: str) -> Room | None:
    """The room of somebody in which they have been playing this opponent of late, the last one that was moved in."""
    is_theirs, who = rooms_where(whose)
    with connection.cursor() as cursor:
        cursor.execute(GOING_ON.format(is_theirs), [*who, opponent, machine, timezone.now() - OPEN_FOR])
        found = cursor.fetchone()
    return None if found is None else _row(Room, found[0])


class Opening(NamedTuple):
    """What is to be known before a room is opened."""

    room_id: int
    match_ids: Sequence[int]
    """Of its first match and the seats."""
    is_taken: bool
    """Whether there is a room with its code."""
    n_open: list[int]
    """How many :func:`rooms_open` there are of each who was asked about."""


def opening_read(code: str, *whose: RoomsOf) -> Opening:
    """What is to be known before a room with this code is opened, and how many of each are open; one statement."""
    counts, values = _open_counts(whose)
    columns = [ROOM_ID, NEXT_IDS, CODE_TAKEN, *counts]
    with connection.cursor() as cursor:
        found = cursor.execute(f"SELECT {', '.join(columns)}", [code, *values]).fetchone()
    room_id, match_ids, is_taken, *n_open = found
    return Opening(room_id, match_ids, is_taken, n_open)


def match_list_of(*, viewer: Viewer, guest: UUID | None) -> QuerySet[Match]:
    """Matches in which this person has a seat, newest first, with ``own_side`` and seats prefetched."""
    own = Q(user_id=viewer.user_id) if viewer.user_id is not None else Q(guest=guest, guest__isnull=False)
    own_seats = Seat.objects.filter(own)
    return (
        # First theirs, and then the side in each: asked the other way round, PostgreSQL looks at every match there is.
        Match.objects.filter(_seen(viewer), pk__in=own_seats.values("match"))
        .annotate(own_side=Subquery(own_seats.filter(match=OuterRef("pk")).values("side")[:1]))
        .select_related("room")
        .prefetch_related(Prefetch("seats", Seat.objects.order_by("side")))
        .order_by("-created_at")
    )
