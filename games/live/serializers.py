"""Parsing of untrusted input into typed values: request bodies of the API and data of frames."""

from __future__ import annotations

import json
from typing import Any

from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers

from beadbox import field_text
from beadbox.rules.errors import UnknownGameError
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES, game_get, game_with
from games.exceptions import NOT_JSON_TEXT, TOO_LARGE_TEXT, MalformedError, PlayError

MAX_FRAME_BYTES = 16 * 1024
MAX_MOVE_LENGTH = 20
MAX_STEP_PLIES = 100
"""Plies that one request may play in a match of two automated players. The room stays locked meanwhile."""


class FrameError(Exception):
    """A frame that could not be read, so nothing has changed. ``code`` is stable."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


def parse_frame(text: str | None) -> tuple[str, dict[str, Any]]:
    """Return the type and the data of a frame.

    Raises:
        FrameError: binary, too large, not JSON, or not of the form ``{"type": …, "data": {…}}``.
    """
    if text is None:
        raise FrameError("binary_frame", "Please send messages as text, not as bytes.")
    if len(text.encode()) > MAX_FRAME_BYTES:
        raise FrameError("frame_too_large", TOO_LARGE_TEXT)
    try:
        frame = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raise FrameError("malformed_frame", NOT_JSON_TEXT) from None
    if not isinstance(frame, dict) or not isinstance(frame.get("type"), str):
        raise FrameError("malformed_frame", 'Please send messages like {"type": "move", "data": {"move": "5"}}.')
    data = frame.get("data") or {}
    if not isinstance(data, dict):
        raise FrameError("malformed_frame", f"data: {field_text.OBJECT}")
    return frame["type"], data


def parse_move_data(data: dict[str, Any]) -> tuple[str, int | None]:
    """Return the move's text and the ply of ``{"move": "5", "ply": 2}``.

    An older form is ``{"position": 5}``, with the number of a square.

    Raises:
        FrameError: names a field that is missing or of the wrong type.
    """
    move, position, ply = data.get("move"), data.get("position"), data.get("ply")
    if move is None and isinstance(position, int) and not isinstance(position, bool):
        move = str(position)
    if not isinstance(move, str) or not 0 < len(move) <= MAX_MOVE_LENGTH:
        raise FrameError("malformed_frame", f"move: {field_text.REQUIRED}")
    return move, _parse_ply(ply)


def parse_step_data(data: dict[str, Any]) -> tuple[int | None, int]:
    """Return the ply that the client saw, and the number of plies to play, of ``{"ply": 2, "plies": 1}``.

    Both fields are optional.

    Raises:
        FrameError: names a field that is of the wrong type or out of range.
    """
    plies = data.get("plies", 1)
    if isinstance(plies, bool) or not isinstance(plies, int):
        raise FrameError("malformed_frame", f"plies: {field_text.WHOLE_NUMBER}")
    if plies < 1:
        raise FrameError("malformed_frame", f"plies: {field_text.at_least(1)}")
    if plies > MAX_STEP_PLIES:
        raise FrameError("malformed_frame", f"plies: {field_text.at_most(MAX_STEP_PLIES)}")
    return _parse_ply(data.get("ply")), plies


def _parse_ply(ply: Any) -> int | None:
    if ply is not None and (isinstance(ply, bool) or not isinstance(ply, int)):
        raise FrameError("malformed_frame", f"ply: {field_text.WHOLE_NUMBER}")
    return ply


def first_error(detail: Any, field: str = "") -> str:
    """Return the first message in the nested errors of DRF, as ``path.to.field: message``."""
    children = detail.items() if isinstance(detail, dict) else enumerate(detail) if isinstance(detail, list) else ()
    for name, errors in children:
        if not errors:  # A list of objects has an empty mapping for each valid object.
            continue
        is_of_parent = name == "non_field_errors" or (isinstance(detail, list) and isinstance(errors, str))
        return first_error(errors, field if is_of_parent else f"{field}.{name}".lstrip("."))
    sentence = detail if isinstance(detail, str) else MalformedError.message
    return f"{field}: {sentence}" if field else sentence


def parse_data(serializer_class: type[serializers.Serializer[Any]], data: Any) -> dict[str, Any]:
    """Return a body or a query as typed values.

    Raises:
        ValidationError: names the invalid fields.
    """
    serializer = serializer_class(data=data)
    serializer.is_valid(raise_exception=True)
    values: dict[str, Any] = serializer.validated_data
    return values


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses unknown fields, so that a mistyped name does not pass silently."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the values, or raise the errors by field."""
        values = super().to_internal_value(data)
        writable = [name for name, field in self.fields.items() if not field.read_only]
        if unknown := [str(name) for name in data if name not in writable]:
            problem = f"There is no such field to set; there are {', '.join(writable)}."
            raise serializers.ValidationError({name: [problem] for name in unknown}, code="unknown_field")
        return values


class RefusalSerializer(serializers.Serializer[Any]):
    """The reason for which a request was refused."""

    detail = serializers.CharField(help_text="A sentence.")
    code = serializers.CharField(help_text="A code that does not change.")
    fields = serializers.DictField(  # type: ignore[assignment]  # a field of this name hides a serializer's own fields
        required=False, help_text="Every error of a body or a query, by field."
    )


def refusal_responses(*errors: type[PlayError]) -> dict[int, OpenApiResponse]:
    """Return the schema's error responses of an operation with these refusals: by status, with their codes."""
    lines_by_status: dict[int, list[str]] = {}
    for error in errors:
        lines_by_status.setdefault(error.status, []).append(f"`{error.code}`: {error.message}")
    return {status: OpenApiResponse(RefusalSerializer, "\n\n".join(lines)) for status, lines in lines_by_status.items()}


class RoomCreateSerializer(StrictSerializer):
    """A new room: an ``opponent``, or ``first`` and ``second`` for a match that you watch."""

    opponent = serializers.SlugField(max_length=40, default="", allow_blank=True)
    game = serializers.SlugField(max_length=40, default=next(iter(GAMES)))
    machine = serializers.CharField(
        max_length=80, default="", allow_blank=True, help_text="Id or slug of the opponent 'machine'."
    )
    takes_over = serializers.CharField(
        max_length=80,
        default="",
        allow_blank=True,
        help_text="Id or slug of a machine. You play in its seat. Without `fresh`, you must be allowed to train it.",
    )
    first = serializers.CharField(
        max_length=80, default="", allow_blank=True, help_text="The first player: an automated player, or a machine."
    )
    second = serializers.CharField(max_length=80, default="", allow_blank=True, help_text="The second player.")
    side = serializers.CharField(
        max_length=20, default="", allow_blank=True, help_text="A role such as X or O, 0 or 1, or 'random'."
    )
    fresh = serializers.BooleanField(default=False)
    additions = serializers.ListField(
        child=serializers.SlugField(max_length=40),
        default=list,
        max_length=20,
        help_text="Rules that are added to those of the game, such as 'flip' of Romgon.",
    )


class MoveSerializer(serializers.Serializer[Any]):
    """A move: by text, or by the number of a square as in the Go room server."""

    move = serializers.CharField(max_length=MAX_MOVE_LENGTH, required=False)
    position = serializers.IntegerField(required=False)
    ply = serializers.IntegerField(required=False, allow_null=True, min_value=0)
    seat_token = serializers.CharField(max_length=100, required=False, write_only=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Convert either form to ``move``."""
        if "move" not in attrs:
            if "position" not in attrs:
                raise serializers.ValidationError({"move": field_text.REQUIRED}, code="malformed")
            attrs["move"] = str(attrs["position"])
        return attrs


class SeatSerializer(serializers.Serializer[Any]):
    """A request that needs only the proof of a seat."""

    seat_token = serializers.CharField(max_length=100, required=False, write_only=True)


class ResetSerializer(SeatSerializer):
    """A new match in the same room."""

    swap = serializers.BooleanField(default=False)


class StepSerializer(SeatSerializer):
    """A step of one or more plies in an exhibition."""

    ply = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, help_text="The ply of the state that you saw."
    )
    plies = serializers.IntegerField(
        default=1,
        min_value=1,
        max_value=MAX_STEP_PLIES,
        help_text="The largest number of plies; fewer are played if the match ends.",
    )


class PositionsQuerySerializer(serializers.Serializer[Any]):
    """Selection of the boards of a match."""

    after = serializers.IntegerField(
        required=False, min_value=0, help_text="Only boards after this ply; by default all boards."
    )
    match = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=999_999_999,
        help_text="The number of the match in its room; by default the latest.",
    )


class SeatedSerializer(serializers.Serializer[Any]):
    """The role of the taken seat, and the token that proves it (once; absent if the seat was held already).

    The host of an exhibition has no role; the token proves the host.
    """

    code = serializers.CharField()
    role = serializers.CharField(allow_null=True)
    seat_token = serializers.CharField(required=False)


def parse_room(data: Any) -> dict[str, Any]:
    """Return the arguments of ``room_create`` from a JSON body or a form.

    Raises:
        MalformedError: names a field that is missing or invalid.
    """
    serializer = RoomCreateSerializer(data=data)
    if not serializer.is_valid():
        raise MalformedError(first_error(serializer.errors))
    room: dict[str, Any] = dict(serializer.validated_data)
    try:
        additions = room.pop("additions")
        if additions:
            room["game"] = game_with(room["game"], additions).slug
        room["side"] = parse_side(game_get(room["game"]), room["side"], Side.FIRST)
    except UnknownGameError as error:
        raise MalformedError(f"game: {error}") from None
    except ValueError as error:
        raise MalformedError(str(error)) from None
    return room


def parse_side(game: AnyGame, text: str, default: Side | None) -> Side | None:
    """Return the side that a role (``X``), a number or ``random`` (``None``) means; blank text means the default.

    Raises:
        ValueError: the text names no side of this game.
    """
    roles = [role.lower() for role in game.presentation.layout.roles]
    text = text.strip().lower()
    if not text:
        return default
    if text == "random":
        return None
    for side_names in (roles, ["0", "1"], ["first", "second"], list(game.presentation.layout.role_names)):
        if text in side_names:
            return Side(side_names.index(text))
    raise ValueError(f"side: {field_text.one_of([*game.presentation.layout.roles, 'random'])}")
