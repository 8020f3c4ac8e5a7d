"""The state of a room, its redaction for each viewer, and its broadcast to the room's sockets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import AGREED, MOVE_LIMIT, RESIGNATION
from games.accounts.principal import AnyUser, Principal
from games.live.players import PLAYERS, LiveMatch
from games.live.states import (
    Action,
    BoardState,
    DrawOffer,
    Ending,
    MatchBoards,
    MoveState,
    PositionState,
    PrivateSeat,
    RoomState,
    SeatState,
    Status,
)
from games.live.store import match_by_number, match_latest, match_read, room_get, snapshot
from games.models import Match, MatchStatus, Ply, Room
from games.transport.broadcaster import Broadcast, Message, group_write

EMPTY_BOX = "empty_box"

N_VISITS_TO_DRAW = 3
"""Visits to a position in a match after which the players may agree to a draw."""

HIDDEN_MACHINE_TEXT = "a machine that is not public"
"""Words for a hidden machine within a sentence."""

HIDDEN_SEAT_NAME = HIDDEN_MACHINE_TEXT[0].upper() + HIDDEN_MACHINE_TEXT[1:]
"""The name of a hidden machine's seat."""

MATCH_REASON_TEXTS = {
    RESIGNATION: "the loser resigned",
    EMPTY_BOX: "the machine found no bead in its box and resigned",
    MOVE_LIMIT: "the game went on for too many moves",
    AGREED: "both sides agreed",
}
"""Reasons for the end of a match that a game's own rules do not name."""


def can_swap_sides(live: LiveMatch) -> bool:
    """Whether a person has a seat in the room, and every automated player could play the other side."""
    room = live.room
    players_of_seats = (
        PLAYERS.get(room.takes_over if seat.row.takes_over else room.opponent)
        for seat, player in live.automated_seats
        if not player.either_side
    )
    return not room.is_exhibition and all(
        player is not None and room.game in player.swappable_games for player in players_of_seats
    )


def draw_offer(live: LiveMatch) -> DrawOffer | None:
    """Return the offer of a draw in a match of a game with loops; ``None`` if the players may not agree to a draw.

    The players may agree once a position has come for the third time since the last move of a person. Positions are
    the same if the board and the side to move are the same; a symmetric image is another position. A position after a
    machine's answer counts too, because the answer follows before the person can offer a draw.
    """
    game, match, plies = live.game, live.match, live.plies
    if match.status != MatchStatus.PLAYING:
        return None
    positions = [game.encode(game.initial_position()), *(ply.position for ply in plies)]
    last = next((ply.number for ply in reversed(plies) if live.seats[ply.side].row.is_human), len(plies))
    if all(positions.count(text) < N_VISITS_TO_DRAW for text in positions[last + 1 :]):
        return None
    return {"by": None if match.draw_offered_by is None else role_of(match, match.draw_offered_by)}


def role_of(match: Match, side: int) -> str:
    """Return the game's name of a side, such as ``X``."""
    return match.room.game_rules.presentation.layout.roles[side]


def reason_of(match: Match) -> str:
    """Return the reason for the end of the match, in words that a child understands."""
    termination = match.termination
    return match.room.game_rules.presentation.reasons.get(termination) or MATCH_REASON_TEXTS[termination]


@dataclass(frozen=True, slots=True)
class UnredactedState:
    """The whole state of a room. Only the redacted form of :meth:`redact_for` leaves the server."""

    whole: RoomState
    private: list[PrivateSeat]
    """Seats with a machine that is not public, as JSON, like the state."""

    def redact_for(self, viewer: Principal) -> RoomState:
        """Return the state without the parts hidden from this viewer. Does not query the database."""
        hidden = {
            one["side"]: PLAYERS[one["player"]]
            for one in self.private
            if not PLAYERS[one["player"]].may_see(viewer, one["audience"])
        }
        if not hidden:
            return self.whole
        seats = [_redact_seat(seat) if seat["side"] in hidden else seat for seat in self.whole["seats"]]
        insight = self.whole["learning"]
        if insight is not None:
            machines = {seat["role"]: seat["machine"] for seat in seats if seat["machine"] is not None}
            insight = next(iter(hidden.values())).redact_insight(insight, machines)
        outcome = self.whole["outcome"]
        if outcome is not None and outcome["termination"] == EMPTY_BOX:
            losers = {seat["side"] for seat in seats if seat["role"] != outcome["winner"]}
            if losers & hidden.keys():  # An empty box would tell this viewer about the hidden machine's boxes.
                outcome = {**outcome, "termination": RESIGNATION, "reason": MATCH_REASON_TEXTS[RESIGNATION]}
        return {**self.whole, "seats": seats, "learning": insight, "outcome": outcome}

    def broadcast(self, informed_channel: str = "") -> None:
        """Send the state to the room's sockets, which redact it. The ``informed_channel`` already has the state.

        Call only after the commit. A message may be lost, because Redis buffers nothing. So each message has the whole
        state.
        """
        message = {"type": "room.state", "whole": self.whole, "private": self.private}
        group_write(
            room_group(self.whole["code"]), Broadcast(message, merge=_newer_message, informed_channel=informed_channel)
        )


def room_group(code: str) -> str:
    """Return the group of all sockets in a room."""
    return f"room.{code}"


def _newer_message(before: Message, after: Message) -> Message:
    """Return the newer state. Threads may hand over two states of a room in reverse order."""
    return max(before, after, key=lambda message: message["whole"]["version"])


def _redact_seat(seat: SeatState) -> SeatState:
    """Return a seat without its machine. After a take-over, the person's name stays."""
    name = seat["name"] if seat["takes_over"] else HIDDEN_SEAT_NAME
    return {**seat, "name": name, "machine": None, "hidden": True}


def room_state(live: LiveMatch) -> UnredactedState:
    """Return the unredacted state of a room as docs/protocol.md describes it, with its private seats.

    The number of queries is fixed.
    """
    private: list[PrivateSeat] = [
        {"side": seat.row.side, "player": player.slug, "audience": player.audience}
        for seat, player in live.automated_seats
        if player.audience is not None
    ]
    players = {player.slug: player for _, player in live.automated_seats}
    learners_first = sorted(players.values(), key=lambda player: (not player.learns, player.slug))
    room, match, game = live.room, live.match, live.game
    position_part = (_cached_position_part if game.supports_boxes else _position_part)(
        game, match.position, match.status == MatchStatus.PLAYING
    )
    roles = game.presentation.layout.roles
    return UnredactedState(
        {
            **position_part,
            "code": room.code,
            "game": room.game,
            "number": match.number,
            "version": room.version,
            "status": cast("Status", match.status),
            "ply": match.n_plies,
            "thinking": match.answer_by is not None,
            "last_move": live.plies[-1].move if live.plies else None,
            "draw_offer": draw_offer(live) if game.has_endless_draws else None,
            "outcome": None if not match.is_over else _outcome(match),
            "seats": [
                {
                    "role": roles[seat.row.side],
                    "side": seat.row.side,
                    "kind": seat.row.player,
                    "takes_over": bool(seat.row.takes_over),
                    "name": seat.row.name,
                    "taken": not seat.row.is_free,
                    "machine": None if seat.player is None else seat.player.describe(),
                    "hidden": False,
                }
                for seat in live.seats
            ],
            "moves": list(_moves(game, live.plies)),
            "can_swap": can_swap_sides(live),
            "exhibition": room.is_exhibition,
            "learning": next(filter(None, (player.insight(live) for player in learners_first)), None),
        },
        private,
    )


def _position_part(game: AnyGame, text: str, is_playing: bool) -> PositionState:
    """Return the part of the state that depends on the position only. Callers must not change the result."""
    position = game.decode(text)
    moves = {game.format_move(move): move for move in game.legal_moves(position)} if is_playing else {}
    cells, roles = game.presentation.layout.cells, game.presentation.layout.roles
    return {
        "board": list(game.pieces(position)),
        "position": text,
        "turn": roles[game.side_to_move(position)] if is_playing else None,
        "legal_moves": list(moves),
        "paths": {text: game.presentation.path_ids(move) for text, move in moves.items()},
        "actions": _actions(game, position, moves) if game.presentation.has_actions else {},
        "notices": dict(game.presentation.notices(position)) if is_playing else {},
        "captured": dict(zip(roles, map(list, game.presentation.captured(position)), strict=True)),
        "winning_cells": [cells[cell].id for cell in game.presentation.winning_cells(position)],
    }


_cached_position_part = lru_cache(maxsize=4096)(_position_part)
"""Cached :func:`_position_part` for games small enough for boxes: their matches repeat few positions."""


def _moves(game: AnyGame, plies: list[Ply]) -> Iterator[MoveState]:
    """Yield the moves of a match, each described on the board before it."""
    step, position = _cached_step if game.supports_boxes else _step, game.initial_position()
    for ply in plies:
        path, name, piece, position = step(game, position, ply.move)
        yield {
            "ply": ply.number,
            "role": game.presentation.layout.roles[ply.side],
            "move": ply.move,
            "path": path,
            "name": name,
            "piece": piece,
        }


def _step(game: AnyGame, position: AnyPosition, text: str) -> tuple[list[str], str, str | None, Any]:
    """Return a move's cells, words and piece, and the next position. Callers must not change the result."""
    move = game.parse_move(text)
    path, name, piece = (
        game.presentation.path_ids(move),
        game.presentation.tell_move(position, move),
        game.presentation.mover(position, move),
    )
    return path, name, piece, game.apply(position, move)


_cached_step = lru_cache(maxsize=4096)(_step)
"""Cached :func:`_step` for games small enough for boxes.

The positions of other games contain the history of the match. A look-up of such a long position would take longer than
a step.
"""


def room_positions(code: str, after: int = -1, match: int | None = None) -> MatchBoards:
    """Return the boards of a match, from before its first move to after its last (docs/protocol.md).

    ``match`` is the number of the match, by default of the latest match of the room. Boards up to the ply ``after`` are
    left out. This function applies the moves one after the other. To decode each stored position would be slower: a
    position with history must be parsed from its beginning, and grows with each ply.

    Raises:
        RoomNotFoundError, MatchNotFoundError.
    """
    with snapshot():
        room = room_get(code)
        match_row = match_latest(room) if match is None else match_by_number(room, match)
        moves = list(match_row.plies.values_list("move", flat=True))
    return {
        "number": match_row.number,
        "positions": [one for one in _boards(room.game_rules, moves) if one["ply"] > after],
    }


def _boards(game: AnyGame, moves: list[str]) -> Iterator[BoardState]:
    """Yield the board before the first of these moves and after each."""
    position, roles = game.initial_position(), game.presentation.layout.roles
    path: list[str] = []
    for ply, text in enumerate([*moves, None]):
        yield {
            "ply": ply,
            "board": list(game.pieces(position)),
            "last_cells": path,
            "captured": dict(zip(roles, map(list, game.presentation.captured(position)), strict=True)),
            "notices": {} if game.is_terminal(position) else dict(game.presentation.notices(position)),
        }
        if text is not None:
            move = game.parse_move(text)
            path, position = game.presentation.path_ids(move), game.apply(position, move)


def _actions(game: AnyGame, position: AnyPosition, moves: Mapping[str, AnyMove]) -> dict[str, Action]:
    """Return the legal moves that are no plain moves: the kind of each, its words, and the piece after the move."""
    return {
        text: {
            "kind": kind,
            "name": game.presentation.describe_action(position, move),
            "piece": game.pieces(game.apply(position, move))[game.path(move)[-1]],
        }
        for text, move in moves.items()
        if (kind := game.presentation.kind(move)) != "move"
    }


def manageable_machine_ids(room: Room, user: AnyUser) -> list[int]:
    """Return the ids of the machines in the room's seats that the user may change."""
    if not Principal.of(user).is_known:
        return []
    live = match_read(room.code)
    return [machine_id for slug in live.slugs for machine_id in PLAYERS[slug].manageable_machine_ids(live, user)]


def _outcome(match: Match) -> Ending:
    winner = None if match.winner is None else role_of(match, match.winner)
    return {"winner": winner, "termination": match.termination, "reason": reason_of(match)}
