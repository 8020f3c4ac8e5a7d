"""What goes over the wire about rooms and games, field by field; docs/protocol.md tells what each means.

Selectors make these, REST and sockets send them as they are, and the schema of the API is made of them.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Status = Literal["waiting", "playing", "finished"]


class Action(TypedDict):
    """A legal move that is more than going from cell to cell."""

    kind: str
    name: str
    piece: str | None


class Ending(TypedDict):
    """How a match ended."""

    winner: str | None
    termination: str
    reason: str


class MachineBrief(TypedDict):
    """What is said of a machine wherever it plays."""

    id: int
    name: str
    url: str
    learns: bool
    level: int
    epsilon: float | None
    games: int
    wins: int
    draws: int
    losses: int
    win_rate: float | None


class SeatMachine(MachineBrief):
    """The machine in a seat: if its level counts, which part of ``learning`` tells of it, how its page is called."""

    counts_level: bool
    tells: str
    see: str
    see_named: str


class DrawnBox(TypedDict):
    """The box that was opened, as it is printed."""

    position: str
    board: list[str | None]
    move_number: int
    url: str


class Placement(TypedDict):
    """How the printed box is turned to lie as the board does."""

    name: str
    quarter_turns: int
    mirrored: bool


class MovesView(TypedDict):
    """Moves as texts, as the ids of the cells that each touches, and in words."""

    moves: list[str]
    paths: list[list[str]]
    names: list[str]


class SlotView(MovesView):
    """A slot of a box: its bead, the move that is printed on it, and the moves that it stands for."""

    colour: int
    mark: str
    name: str
    printed: str
    printed_path: list[str]


class SlotOpened(SlotView):
    """A slot of a box that was opened, its moves as the board lies."""

    slot: int


class SlotDrawn(SlotOpened):
    """The same, and what was in it: its beads, and the chance that one of them was drawn."""

    beads: int
    probability: float


class DrawState(TypedDict):
    """A box that was opened, and what was drawn."""

    ply: int
    role: str
    box: DrawnBox
    symmetry: Placement
    slots: list[SlotDrawn]
    slot: int | None
    move: str | None
    resigned: bool
    refilled: bool
    anything: bool
    by_hand: bool


class LessonTold(TypedDict):
    """What a match was for a machine, in words."""

    result: str
    sentence: str


class LessonDeed(LessonTold):
    """The same, and what was done to it."""

    deed: str


class LessonState(LessonDeed):
    """The same, and which machine it was."""

    role: str
    machine: MachineBrief


class BeadChange(TypedDict):
    """Beads that went into a slot or out of it."""

    ply: int | None
    role: str
    box: str
    slot: int
    delta: int
    before: int
    after: int
    colour: int
    mark: str
    name: str
    refill: bool


class ActionValue(TypedDict):
    """An action that a machine may play, and what it is worth to it."""

    move: str
    name: str
    value: float
    outlook: float
    total: float
    ends: int
    """1 if whoever plays it wins at once, -1 if they lose at once by repetition, else 0."""


class ThoughtCandidate(ActionValue):
    """The same of a decision: whether it was chosen."""

    chosen: bool


class Thought(TypedDict):
    """A decision of a machine that keeps values."""

    ply: int
    role: str
    epsilon: float
    explored: bool
    has_outlook: bool
    n_candidates: int
    candidates: list[ThoughtCandidate]


class DecisionLine(TypedDict):
    """A decision as a line."""

    ply: int
    role: str
    value: float
    explored: bool


class ValueChangeState(TypedDict):
    """A value before and after a match."""

    ply: int
    role: str
    name: str
    before: float
    after: float


class ValuesInsight(TypedDict):
    """What machines that keep values thought and learnt."""

    thought: Thought | None
    plies: list[DecisionLine]
    changes: list[ValueChangeState]


class PartState(TypedDict):
    """What one thing on the board adds to a sum: ``value`` is ``weight`` times ``amount``."""

    name: str
    value: float
    weight: float
    amount: float


class PartGroupState(TypedDict):
    """Parts that speak of one thing, and what they come to."""

    name: str
    value: float
    parts: list[PartState]


class PartsState(TypedDict):
    """A board after a move, for whoever made it: its sum, the value from -1 to 1 that it is squashed to, its parts."""

    sum: float
    value: float
    groups: list[PartGroupState]


class MoveWorth(TypedDict):
    """A move: what the board after it is worth, and what the search found; from -1 to 1."""

    move: str
    name: str
    path: list[str]
    board: float
    found: float | None
    chosen: bool


class PartsThought(PartsState):
    """A move of who plays by a learnt value of boards, in words, how it compared, and where its weights are."""

    words: str
    ply: int
    role: str
    depth: int
    n_moves: int
    moves: list[MoveWorth]
    url: str


class WeightChangeState(TypedDict):
    """A weight that a match has changed."""

    name: str
    before: float
    after: float


class WeightsLearnt(TypedDict):
    """What a match changed in a machine: how many weights, those that changed most, and where all are to be seen."""

    role: str
    url: str
    n_changed: int
    weights: list[WeightChangeState]


class PartsInsight(TypedDict):
    """What machines that learn a value of boards thought of their last moves, and what a match changed most."""

    thoughts: list[PartsThought]
    changes: list[WeightsLearnt]


class BoxesInsight(TypedDict):
    """What the machines in a match drew and learnt; ``machine`` is ``None`` where levels alone say something."""

    role: str
    machine: MachineBrief | None
    box: str | None
    beads_before: list[int] | None
    slot: int | None
    draws: list[DrawState]
    lesson: LessonTold | None
    lessons: list[LessonState]
    changes: list[BeadChange]


class Insight(BoxesInsight, total=False):
    """The same of every kind of machine; the values of those that keep any, the parts of those that add some up."""

    values: ValuesInsight
    parts: PartsInsight


class SeatState(TypedDict):
    """Who sits on a side."""

    role: str
    side: int
    kind: str
    takes_over: bool
    name: str
    taken: bool
    machine: SeatMachine | None
    hidden: bool


class MoveState(TypedDict):
    """A move as it was played."""

    ply: int
    role: str
    move: str
    path: list[str]
    name: str
    piece: str | None


class PositionState(TypedDict):
    """What a position says by itself; of a match that is not being played there is nothing to move."""

    board: list[str | None]
    position: str
    turn: str | None
    legal_moves: list[str]
    paths: dict[str, list[str]]
    actions: dict[str, Action]
    notices: dict[str, str]
    captured: dict[str, list[str]]
    winning_cells: list[str]


class RoomState(PositionState):
    """The state of a room and its latest match, as whoever asks may know it."""

    code: str
    game: str
    number: int
    version: int
    status: Status
    ply: int
    thinking: bool
    last_move: str | None
    outcome: Ending | None
    seats: list[SeatState]
    moves: list[MoveState]
    can_swap: bool
    exhibition: bool
    learning: Insight | None


class Joined(TypedDict):
    """The first message to a newcomer of a room."""

    role: str | None
    roles: list[str]
    host: bool
    state: RoomState


class PrivateSeat(TypedDict):
    """A seat whose machine is not for everybody; ``audience`` as its player says."""

    side: int
    player: str
    audience: Any


class BoardState(TypedDict):
    """A board of a match, told as the state tells the one on the board now."""

    ply: int
    board: list[str | None]
    last_cells: list[str]
    captured: dict[str, list[str]]
    notices: dict[str, str]


class MatchBoards(TypedDict):
    """The boards of the latest match of a room, in order of play."""

    number: int
    positions: list[BoardState]


class VariantShape(TypedDict):
    """A game of a family."""

    slug: str
    name: str
    variant: str
    columns: float
    rows: float


class SideShape(TypedDict):
    """A side, by its role and in words."""

    role: str
    name: str


class NotationShape(TypedDict):
    """How moves and positions are written: the moves of the first position, and what a position's text says."""

    moves: list[str]
    position: str


class CellShape(TypedDict):
    """A place of the board."""

    id: str
    name: str
    mark: str
    x: float
    y: float
    zone: str
    goal: str


class LayoutShape(TypedDict):
    """How a board is drawn, in units of one cell."""

    columns: float
    rows: float
    shape: str
    roles: list[str]
    role_names: list[str]
    cells: list[CellShape]
    pieces: dict[str, dict[str, Any]]
    cell_words: str
    badges: list[str]
    coordinates: str
    prompts: list[str]


class GuidePicture(TypedDict):
    """A board that shows a part of how to play: its pieces, lit cells, and dots where a piece may go."""

    board: list[str | None]
    lit: list[str]
    dots: list[str]


class GuideShape(TypedDict):
    """A part of how to play."""

    title: str
    words: str
    picture: GuidePicture | None


class AdditionShape(TypedDict):
    """A rule that may be added, and whether this game has it."""

    slug: str
    name: str
    summary: str
    added: bool


class OpponentShape(TypedDict):
    """Somebody who can be played by name."""

    slug: str
    name: str
    summary: str
    whom: str
    elo: RatingShape | None


class RatingShape(TypedDict):
    """The strength of a level on Elo's scale, measured in matches with history, and its 95 % interval."""

    elo: int
    low: int
    high: int


class GameShape(TypedDict):
    """Everything needed to draw and start a game."""

    slug: str
    family: str
    variant: str
    variants: list[VariantShape]
    name: str
    summary: str
    start: str
    sides: list[SideShape]
    notation: NotationShape
    layout: LayoutShape
    guide: list[GuideShape]
    boxes: bool
    has_engine: bool
    has_actions: bool
    plain_words: str
    legend: str
    additions: list[AdditionShape]
    opponents: list[OpponentShape]


class GameList(TypedDict):
    """The usual game of every family."""

    count: int
    next: str | None
    previous: str | None
    results: list[GameShape]
