"""Types of the JSON that sockets and the API send about boxes, training runs and tournaments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypedDict


class BoxState(TypedDict):
    """The fields of a box that change: beads and number of draws of each slot."""

    position: str
    beads: list[int]
    draws: list[int]


class HoldsBeads(Protocol):
    """A box from any source: a row of the database, or a machine's memory during training."""

    @property
    def position(self) -> str: ...

    @property
    def beads(self) -> list[int]: ...

    @property
    def visits(self) -> list[int]: ...


def box_state(box: HoldsBeads) -> BoxState:
    """Return the changing fields of a box."""
    return {"position": box.position, "beads": box.beads, "draws": box.visits}


class BoxNews(BoxState):
    """A changed box; ``lesson`` is the number of the lesson that gave it these beads."""

    lesson: int


class MachineNews(TypedDict):
    """News of a machine: changed boxes, the last bead drawn in a live match, and the totals after a lesson.

    ``lesson`` is the number of the machine's last lesson that the sender knew.
    """

    boxes: list[BoxNews]
    drawn: dict[str, Any] | None
    totals: dict[str, int] | None
    lesson: int


def box_news(boxes: Iterable[HoldsBeads], lesson: int) -> list[BoxNews]:
    """Return the JSON of the boxes that a lesson changed, each once, as it was after its last change."""
    return list({box.position: BoxNews(**box_state(box), lesson=lesson) for box in boxes}.values())


class ShareState(TypedDict):
    """A share of games, from 0 to 1, and its 95 % interval."""

    value: float
    low: float
    high: float


class SampleState(TypedDict):
    """The shares of wins, draws and losses in a number of games."""

    win: ShareState
    draw: ShareState
    loss: ShareState


class PointSoFar(TypedDict):
    """The results of a training run up to a number of games, and the strength of the machine then."""

    games: int
    wins: int
    draws: int
    losses: int
    strength: dict[str, dict[str, Any]]


class PointState(PointSoFar, total=False):
    """A point of a curve. ``in_training``: results since the point before; missing in the first point of a run."""

    in_training: SampleState


class MeasurementState(TypedDict):
    """A snapshot's results against a level.

    ``openings`` is the seed of the set of openings. ``confirms``: the result confirms the choice of the snapshot, but
    was not used for the choice.
    """

    level: str
    games: int
    wins: int
    draws: int
    losses: int
    points: ShareState
    openings: int
    seed: int | str
    confirms: bool


class SnapshotState(TypedDict):
    """A machine's state after ``games`` training games, of which ``games_of_run`` belong to this run.

    ``games_left_behind`` of the games have no effect on the state, because an earlier snapshot was restored after them.
    """

    id: int
    training_run: int
    games_of_run: int
    games: int
    games_left_behind: int
    lesson: int
    plays: bool
    chosen_by_hand: bool
    measurements: list[MeasurementState]


class StageState(TypedDict):
    """A stage of a run: an opponent, and the games against it."""

    opponent: str
    machine: int | None
    learns: bool
    games: int


class RunProgress(TypedDict):
    """The progress of a training run, without its opponents and curve."""

    id: int
    machine: int
    status: str
    waits_for_room: bool
    waits_for_kernels: bool
    games: int
    games_done: int
    wins: int
    draws: int
    losses: int
    most_values: int | None
    values_left_out: int
    measured: int
    seed: int | str
    error: str
    created_at: str
    started_at: str | None
    finished_at: str | None


class RunState(RunProgress):
    """A training run, redacted for its viewer."""

    opponents: list[StageState]


class TournamentBrief(TypedDict):
    """The fields of a tournament without its entries and tables."""

    id: int
    name: str
    game: str
    format: str
    games: int
    rounds: int
    round: int
    seed: int | str
    status: str
    public: bool
    owner: str | None
    created_at: str
    finished_at: str | None


class EntryState(TypedDict):
    """An entry of a tournament: ``machine`` is its id, or ``opponent`` the slug of a fixed opponent."""

    number: int
    name: str
    opponent: str | None
    machine: int | None
    side: int | None
    url: str | None


class StandingsRow(TypedDict):
    """An entry's line of the standings."""

    entry: int
    place: int
    games: int
    wins: int
    draws: int
    losses: int
    points: float
    score: float
    expected: float | None
    rating: float
    uncertainty: float


class CellState(TypedDict):
    """An entry's result against another entry."""

    entry: int
    games: int
    points: float
    expected: float | None


class CrossState(TypedDict):
    """An entry's line of the crosstable."""

    entry: int
    against: list[CellState]


class PairingState(TypedDict):
    """The games between two entries in a round."""

    number: int
    round: int
    first: int
    second: int
    status: str
    first_wins: int
    draws: int
    second_wins: int
    expected: list[float] | None


class TournamentState(TournamentBrief):
    """A tournament with its entries, tables and pairings."""

    version: int
    error: str
    pairings_done: int
    pairings_total: int
    entries: list[EntryState]
    standings: list[StandingsRow]
    crosstable: list[CrossState]
    pairings: list[PairingState]


class TournamentChange(TournamentState):
    """The changes of a tournament: its tables have only the lines that differ from version ``since``.

    ``order`` has the numbers of all entries in the order of standings and crosstable: by side, best first in a side.
    """

    since: int
    order: list[int]


class LatestResults(TypedDict):
    """The results of a machine's latest matches, ten at most."""

    wins: int
    draws: int
    losses: int


class FirstMove(TypedDict):
    """A machine's likeliest first move and its probability.

    ``after`` is the opponent's opening move; empty if the machine begins. ``move`` is null to resign.
    """

    after: str
    move: str | None
    chance: float


class BeadLabel(TypedDict):
    """A bead: its colour, its printed mark and the move that it stands for."""

    colour: int
    mark: str
    name: str


class FirstBox(TypedDict):
    """The box of a machine's first move: its beads at the start and now. ``after``: the opening, or empty."""

    after: str
    slots: list[BeadLabel]
    before: list[int]
    now: list[int]


class Progress(TypedDict):
    """The progress of a machine, as its page shows it.

    ``results`` has the results of at most ten latest matches, oldest first. ``points`` is the exact expectation of
    points in a game against random play. ``holds`` is the exact probability not to lose against perfect play. Both are
    null if unknown. A curve has pairs of a number of games and the figure after them; an unknown curve is empty.
    """

    games: int
    latest: LatestResults
    results: list[str]
    first: FirstMove
    first_box: FirstBox | None
    points: float | None
    points_curve: list[list[float]]
    holds: float | None
    curve: list[list[float]]
    words: str
    points_words: str
    curve_words: str


class PrivateEntry(TypedDict):
    """The number of a tournament's entry with a private machine, and the machine's access list."""

    entry: int
    audience: list[int | str] | None


class CostlyBox(TypedDict):
    """A machine's box of which the initial beads, put back, would cost most points; ``cost`` is from 0 to 1."""

    position: str
    board: list[str | None]
    move_number: int
    cost: float


class PupilRow(TypedDict):
    """A pupil's line in the table of a class. Only the teacher gets ``url`` and ``stuck``.

    ``place`` counts within the pupils whose machines play the same side. ``points`` are the exact points against random
    play, from 0 to 1. ``curve`` has the points of an SVG polyline. ``stuck`` is ``gone`` for a pupil without a socket,
    ``waiting`` for a pupil without a move for a minute, or empty.
    """

    number: int
    name: str
    side: int
    side_name: str
    place: int
    games: int
    wins: int
    draws: int
    losses: int
    points: float | None
    curve: str
    url: str | None
    stuck: str


class Leader(TypedDict):
    """The pupil with the best machine of a side, and the box that matters most, if there is one."""

    number: int
    name: str
    side: int
    box: CostlyBox | None


class FinalMark(TypedDict):
    """The state of a class's final: a page that shows another ``mark`` is out of date. ``progress`` is from 0 to 1.

    Pages of pupils and projectors show the final if ``is_shown``.
    """

    mark: str
    is_shown: bool
    progress: float


class ClassTable(TypedDict):
    """The table of a class: the pupils in order of side and place, the best pupil of each side, and the final."""

    status: str
    locked: bool
    pupils: int
    rows: list[PupilRow]
    leaders: list[Leader]
    final: FinalMark | None
