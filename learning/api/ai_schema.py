"""OpenAPI schema of the advice endpoints: the shapes, and the examples of Romgon's specification (docs/ai.md)."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample

from beadbox.engines.registry import LEVELS

JSON = "application/json"


def _object(description: str, required: list[str], **properties: Any) -> dict[str, Any]:
    # OpenAPI forbids an empty list of required properties.
    needed = {"required": required} if required else {}
    return {"type": "object", "description": description, **needed, "properties": properties}


def _text(description: str, *choices: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **({"enum": list(choices)} if choices else {}), **more}


_NUMBER = {"type": "number"}
_PATHS = {
    "type": "object",
    "description": "For each legal move, the ids of the cells that a person touches to play it. Romgon has none.",
    "additionalProperties": {"type": "array", "items": {"type": "string"}},
}
_FLAG = {"type": "boolean"}

_PIECE = _object(
    "A piece. Other fields are ignored.",
    ["color", "type"],
    color=_text("The side that owns the piece.", "white", "black"),
    type=_text("The type of the piece; `hexagon` means `hexgon`.", "square", "triangle", "rhombus", "circle", "hexgon"),
    flipped={**_FLAG, "default": False},
    rotation={"type": "integer", "default": 0, "description": "In steps of 60 degrees, clockwise; modulo 6."},
)
_BOARD = {
    "description": "Romgon: hex (`row-col`) to piece, null for none. Other games: the text of the position, or a list"
    " with an entry for each cell.",
    "oneOf": [
        {"type": "object", "additionalProperties": {**_PIECE, "nullable": True}},
        {"type": "string", "example": "X...O...."},
        {"type": "array", "items": {"type": "string", "nullable": True}},
    ],
}
_QUESTION = _object(
    "A board and the side that asks.",
    ["board"],
    game=_text("By default Romgon.", example="noughts-and-crosses"),
    board=_BOARD,
    playerColor=_text("The side to move. In games other than Romgon, white is the first player.", "white", "black"),
    currentPlayer=_text("Another name of `playerColor`; if both are given, they must be equal.", "white", "black"),
    flipModeEnabled={**_FLAG, "default": False},
    difficulty=_text(
        "The level: `easy`, `medium` and `hard` in every game, the others in Romgon. `GET /api/ai/health` lists the"
        " levels of each game and their strength. `expert`, `master`, `grandmaster` and `legend` search until the"
        " time is over. `skilled` and the levels after it play by learnt values. They do not play with rotation or"
        " shape defence.",
        *LEVELS,
        default="hard",
    ),
    machine={
        "description": "The id or slug of a machine, which chooses the move. For Romgon, `game` must be given too.",
        "oneOf": [{"type": "integer"}, {"type": "string"}],
    },
)
_ACTION = _object(
    "An action of Romgon, or a move of another game.",
    [],
    **{
        "from": _text("The hex from which the piece starts."),
        "to": _text("The hex on which the piece ends; for a flip the hex on which it stands."),
    },
    isCapture=_FLAG,
    isFlip=_FLAG,
    captured=_text("The type of the captured piece."),
    evaluation={**_NUMBER, "nullable": True},
    notation=_text("For example `3-8→3-6`, with ` C` for a capture and ` F` for a flip."),
    move=_text("Only in games other than Romgon: the move in the notation of the game."),
    name=_text("Only in games other than Romgon: the move in words."),
    probability={**_NUMBER, "description": "Only with a machine: the probability that it plays this move."},
    value={**_NUMBER, "description": "Only with a machine in Romgon: Q, the learnt value of this action."},
    outlook={
        **_NUMBER,
        "description": "Only with a machine in Romgon: E/100. `evaluation` is the sum of `value` and `outlook`.",
    },
)
_ANSWER = _object(
    "The action to play, and a comparison with other actions.",
    ["move", "evaluation", "candidateMoves", "difficulty", "flipModeEnabled"],
    move={**_ACTION, "nullable": True},
    evaluation={**_NUMBER, "nullable": True, "description": "The value of `move`."},
    candidateMoves={
        "type": "array",
        "items": _ACTION,
        "description": "Best first: up to five in Romgon without a machine, else every legal move.",
    },
    paths=_PATHS,
    difficulty={"type": "string", "nullable": True},
    flipModeEnabled=_FLAG,
    depth={
        "type": "integer",
        "description": "Only in Romgon: the search depth in actions.",
    },
    box={
        "type": "object",
        "nullable": True,
        "description": "Only with a machine: the box that it opened, if it has boxes.",
    },
    machine=_object(
        "The machine that chose the move.",
        ["id", "name", "url"],
        id={"type": "integer"},
        name={"type": "string"},
        url={"type": "string"},
    ),
)
_EVALUATION = _object(
    "The value of the board for the side that asks.",
    ["evaluation", "flipModeEnabled", "legalMoves", "terms", "status"],
    evaluation={**_NUMBER, "nullable": True},
    flipModeEnabled=_FLAG,
    legalMoves={"type": "array", "items": _ACTION},
    paths=_PATHS,
    terms={"type": "object", "additionalProperties": _NUMBER},
    status=_object(
        "Whether the game is over.",
        ["over", "winner", "reason", "inCheck"],
        over=_FLAG,
        winner={"type": "string", "nullable": True},
        reason={"type": "string", "nullable": True},
        inCheck=_FLAG,
    ),
)
_LADDER_ENTRY = _object(
    "A level, and its rating on Elo's scale, measured in matches with history.",
    ["difficulty", "elo", "low", "high"],
    difficulty=_text("The level's name in a request.", *LEVELS),
    elo={"type": "integer", "description": "`easy` is 0."},
    low={"type": "integer"},
    high={"type": "integer", "description": "The upper end of the 95 % interval; `low` is the lower end."},
)
_ERROR = _object(
    "A refusal.",
    ["error", "detail", "code"],
    error=_text("One of a few fixed texts, or the sentence of `detail`."),
    detail=_text("A sentence that says what to send instead."),
    code=_text("The code of the refusal, as in the rest of the API."),
)

_ERROR_TEXTS = {
    "Invalid JSON": "The body is empty. Send Content-Type: application/json and an object such as"
    ' {"game": "noughts-and-crosses", "board": "X...O...."}.',
    "Missing required fields": "The field playerColor is missing: it is white or black.",
    "Invalid playerColor": 'playerColor is white or black, not "red".',
    "Invalid board": 'There is no hex "9-9". Hexes are named row-column, such as 3-0.',
    "Invalid flipModeEnabled": 'flipModeEnabled is true or false, not "on".',
    "Invalid difficulty": 'difficulty is one of easy, medium, hard, not "Hard". Did you mean hard?',
}
_START = {
    "white": {"0-0": "square", "1-0": "triangle", "2-0": "circle", "3-0": "rhombus"}
    | {"4-0": "hexgon", "5-0": "triangle", "6-0": "square"},
    "black": {"6-5": "square", "5-6": "triangle", "4-7": "circle", "3-8": "rhombus"}
    | {"2-7": "hexgon", "1-6": "triangle", "0-5": "square"},
}
START_BOARD = {
    hex_id: {"color": colour, "type": kind} for colour, army in _START.items() for hex_id, kind in army.items()
}


def _candidate(start: str, end: str, evaluation: float) -> dict[str, Any]:
    action = {"from": start, "to": end, "isCapture": False, "isFlip": False}
    return {**action, "evaluation": evaluation, "notation": f"{start}→{end}"}


_START_CANDIDATES = [
    _candidate("4-7", "4-6", 0),
    _candidate("4-7", "3-7", -2),
    _candidate("3-8", "3-6", -9),
    _candidate("2-7", "3-6", -25),
    _candidate("6-5", "5-5", -25.5),
]


def _asked(name: str, value: dict[str, Any]) -> OpenApiExample:
    return OpenApiExample(name, value=value, request_only=True)


def _answered(name: str, value: dict[str, Any], status: int = 200) -> OpenApiExample:
    return OpenApiExample(name, value=value, response_only=True, status_codes=[str(status)])


_QUESTIONS = [
    _asked("Romgon, from the start", {"board": START_BOARD, "playerColor": "black", "difficulty": "hard"}),
    _asked("Noughts and crosses", {"game": "noughts-and-crosses", "board": "X...O....", "difficulty": "hard"}),
    _asked("A machine draws", {"game": "noughts-and-crosses", "board": ".........", "machine": "menace-first"}),
    _asked(
        "A machine plays Romgon",
        {"game": "romgon", "board": START_BOARD, "playerColor": "black", "machine": "romgon-q"},
    ),
]
_REFUSALS = {
    (400, JSON): _ERROR,
    (413, JSON): {**_ERROR, "description": "The body has more than 64 kB."},
    (429, JSON): {
        **_ERROR,
        "description": "There were too many requests from this address; `Retry-After` says when to try again.",
    },
}
_REFUSALS_OF_MACHINES = {
    (401, JSON): {**_ERROR, "description": "The token is unknown, expired or revoked."},
    (403, JSON): {**_ERROR, "description": "The token lacks the scope `play`."},
    (404, JSON): {**_ERROR, "description": "There is no such machine, or you may not see it."},
}
_REFUSED = [
    _answered(text, {"error": text, "detail": detail, "code": "malformed"}, 400)
    for text, detail in _ERROR_TEXTS.items()
]

MOVE: dict[str, Any] = {
    "operation_id": "ai_move",
    "auth": [],
    "request": {JSON: _QUESTION},
    "responses": {(200, JSON): _ANSWER, **_REFUSALS, **_REFUSALS_OF_MACHINES},
    "examples": [
        *_QUESTIONS,
        _answered(
            "Romgon, from the start",
            {
                "move": _START_CANDIDATES[0],
                "evaluation": 0,
                "candidateMoves": _START_CANDIDATES,
                "difficulty": "hard",
                "flipModeEnabled": False,
            },
        ),
        *_REFUSED,
    ],
}
EVALUATE: dict[str, Any] = {
    "operation_id": "ai_evaluate",
    "auth": [],
    "request": {JSON: _QUESTION},
    "responses": {(200, JSON): _EVALUATION, **_REFUSALS},
    "examples": [*_QUESTIONS[:2], *_REFUSED],
}
HEALTH: dict[str, Any] = {
    "operation_id": "ai_health",
    "auth": [],
    "responses": {
        (200, JSON): _object(
            "The engine answers.",
            ["status", "depth", "difficulties"],
            status=_text("Always this.", "ok"),
            depth={
                "type": "integer",
                "description": "The depth that a search from the start has reached in the time allowed.",
            },
            difficulties={
                "type": "array",
                "items": {"type": "string"},
                "description": "All levels that a request may name.",
            },
            levels={
                "type": "object",
                "description": "The ladder of each mode, weakest level first. In matches with history, each level "
                "takes at least .65 of the points from the level before it.",
                "properties": {mode: {"type": "array", "items": _LADDER_ENTRY} for mode in ("plain", "flips")},
            },
            levels_measured=_text(
                "How the ratings were measured. A request has no history. So the upper levels with flips take fewer"
                " points if a program asks here for every move.",
                "in matches with history",
            ),
        ),
        (429, JSON): _REFUSALS[429, JSON],
    },
}
