"""JSON types of the messages about rooms and games; docs/protocol.md explains each field.

Selectors build them, REST and sockets send them unchanged, and the API's schema is generated from them.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Status = Literal["waiting", "playing", "finished"]


class Action(TypedDict):
    """A legal move that is more than a move from cell to cell."""

    kind: str
    name: str
    piece: str | None


class Ending(TypedDict):
    """Winner and termination of a finished match, with the reason in words."""

    winner: str | None
    termination: str
    reason: str


class DrawOffer(TypedDict):
    """The players may agree to a draw. ``by`` is the role that offers one, ``None`` before an offer."""

    by: str | None


class MachineBrief(TypedDict):
    """Summary of a machine, shown wherever it plays."""

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
    """The machine in a seat, and how to show it.

    ``counts_level`` tells whether its level counts, ``tells`` which part of ``learning`` describes it. ``see`` and
    ``see_named`` are texts of the link to its page.
    """

    counts_level: bool
    tells: str
    see: str
    see_named: str


class DrawnBox(TypedDict):
    """The opened box, in its printed orientation."""

    position: str
    board: list[str | None]
    move_number: int
    url: str


class Placement(TypedDict):
    """The turn and reflection that bring the printed box into the orientation of the board.

    ``cells`` has the cell of the board for each printed cell. If no turn brings it there, ``exchanged`` is true.
    """

    name: str
    quarter_turns: float
    mirrored: bool
    cells: list[int]
    exchanged: bool


class MovesView(TypedDict):
    """Moves as texts, as the ids of the cells that each touches, and in words."""

    moves: list[str]
    paths: list[list[str]]
    names: list[str]


class SlotView(MovesView):
    """A slot of a box: its bead, the move printed on it, and the moves that it stands for."""

    colour: int
    mark: str
    name: str
    printed: str
    printed_path: list[str]


class SlotOpened(SlotView):
    """A slot of an opened box, with its moves in the orientation of the board."""

    slot: int


class SlotDrawn(SlotOpened):
    """A slot of an opened box with its beads, and the probability of a draw from it."""

    beads: int
    probability: float


class DrawState(TypedDict):
    """An opened box, and the bead drawn from it."""

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


class LessonResult(TypedDict):
    """The result of a match for a machine, in words."""

    result: str
    sentence: str


class LessonSummary(LessonResult):
    """The result of a match for a machine, and its effect on the machine."""

    deed: str


class LessonState(LessonSummary):
    """The result of a match, its effect on a machine, and the machine."""

    role: str
    machine: MachineBrief


class BeadChange(TypedDict):
    """Beads added to a slot or removed from it."""

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
    """A legal action and its value to the machine."""

    move: str
    name: str
    value: float
    outlook: float
    total: float
    ends: int
    """1 if the action wins at once, -1 if it loses at once by repetition, else 0."""


class ThoughtCandidate(ActionValue):
    """An action value of a decision, and whether the action was chosen."""

    chosen: bool


class Thought(TypedDict):
    """A decision of a machine that keeps action values."""

    ply: int
    role: str
    epsilon: float
    explored: bool
    has_outlook: bool
    n_candidates: int
    candidates: list[ThoughtCandidate]


class DecisionLine(TypedDict):
    """Summary of a decision, for a list of all plies."""

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
    """Decisions and value changes of machines that keep action values."""

    thought: Thought | None
    plies: list[DecisionLine]
    changes: list[ValueChangeState]


class PartState(TypedDict):
    """The contribution of one feature of the board to a sum: ``value`` is ``weight`` times ``amount``."""

    name: str
    value: float
    weight: float
    amount: float


class PartGroupState(TypedDict):
    """Contributions of related features, and their sum."""

    name: str
    value: float
    parts: list[PartState]


class PartsState(TypedDict):
    """Evaluation of a board after a move, for the player of the move: sum, squashed value (-1 to 1), contributions."""

    sum: float
    value: float
    groups: list[PartGroupState]


class MoveWorth(TypedDict):
    """A move: the value of the board after it, and the value that the search found; both from -1 to 1."""

    move: str
    name: str
    path: list[str]
    board: float
    found: float | None
    chosen: bool


class PartsThought(PartsState):
    """A move of a machine with a learnt evaluation, explained in words and compared with other moves.

    ``url`` is the address of the weights.
    """

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
    """Changes of a machine by a match: number of changed weights, the largest changes, and the weights' page."""

    role: str
    url: str
    n_changed: int
    weights: list[WeightChangeState]


class PartsInsight(TypedDict):
    """Last moves of machines with a learnt evaluation, and the largest changes of the match."""

    thoughts: list[PartsThought]
    changes: list[WeightsLearnt]


class BoxesInsight(TypedDict):
    """Draws and lessons of the machines of a match; ``machine`` is ``None`` where only the levels apply."""

    role: str
    machine: MachineBrief | None
    box: str | None
    beads_before: list[int] | None
    slot: int | None
    draws: list[DrawState]
    lesson: LessonResult | None
    lessons: list[LessonState]
    changes: list[BeadChange]


class Insight(BoxesInsight, total=False):
    """Insight of every kind of machine, with ``values`` or ``parts`` for the kinds that have them."""

    values: ValuesInsight
    parts: PartsInsight


class SeatState(TypedDict):
    """A side of the match and its player."""

    role: str
    side: int
    kind: str
    takes_over: bool
    name: str
    taken: bool
    machine: SeatMachine | None
    hidden: bool


class MoveState(TypedDict):
    """A played move, with its cells and its words."""

    ply: int
    role: str
    move: str
    path: list[str]
    name: str
    piece: str | None


class PositionState(TypedDict):
    """The part of a state that follows from the position. Unless a match is in play, no move is legal."""

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
    """The state of a room and its latest match, redacted for its reader."""

    code: str
    game: str
    number: int
    version: int
    status: Status
    ply: int
    thinking: bool
    last_move: str | None
    draw_offer: DrawOffer | None
    outcome: Ending | None
    seats: list[SeatState]
    moves: list[MoveState]
    can_swap: bool
    exhibition: bool
    learning: Insight | None


class Joined(TypedDict):
    """The first message to a client that enters a room."""

    role: str | None
    roles: list[str]
    host: bool
    state: RoomState


class PrivateSeat(TypedDict):
    """A seat with a machine that is not public; ``audience`` is as its player says."""

    side: int
    player: str
    audience: Any


class BoardState(TypedDict):
    """A board of a match, in the form in which the state describes the current one."""

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
    """A game of a family of variants."""

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
    """How moves and positions are written: the moves of the first position, and the format of a position's text."""

    moves: list[str]
    position: str


class CellShape(TypedDict):
    """A cell of the board, with its place in the drawing."""

    id: str
    name: str
    mark: str
    x: float
    y: float
    zone: str
    goal: str


class LayoutShape(TypedDict):
    """How a board is drawn, in units of one cell; ``lines`` are pairs of cells that a line joins."""

    columns: float
    rows: float
    shape: str
    lines: list[tuple[int, int]]
    roles: list[str]
    role_names: list[str]
    cells: list[CellShape]
    pieces: dict[str, dict[str, Any]]
    cell_words: str
    badges: list[str]
    coordinates: str
    prompts: list[str]


class GuidePicture(TypedDict):
    """A board that illustrates a part of the guide: its pieces, lit cells, and dots where a piece may go."""

    board: list[str | None]
    lit: list[str]
    dots: list[str]


class GuideShape(TypedDict):
    """A part of the guide to the game."""

    title: str
    words: str
    picture: GuidePicture | None


class AdditionShape(TypedDict):
    """An optional rule, and whether this game has it."""

    slug: str
    name: str
    summary: str
    added: bool


class OpponentShape(TypedDict):
    """An opponent that can be requested by name."""

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
    """The standard game of every family."""

    count: int
    next: str | None
    previous: str | None
    results: list[GameShape]
