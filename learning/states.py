"""Messages on boxes, training runs and tournaments as they go over the wire, field by field."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypedDict


class BoxState(TypedDict):
    """The fields of a box that change."""

    position: str
    beads: list[int]
    draws: list[int]


class HoldsBeads(Protocol):
    """A box from any source: a row, or the memory of a lesson."""

    @property
    def position(self) -> str: ...

    @property
    def beads(self) -> list[int]: ...

    @property
    def visits(self) -> list[int]: ...


def box_state(box: HoldsBeads) -> BoxState:
    """Return a box as it goes over the wire."""
    return {"position": box.position, "beads": box.beads, "draws": box.visits}


class BoxNews(BoxState):
    """A box that changed, with the number of the machine's lesson since which it has these beads."""

    lesson: int


class MachineNews(TypedDict):
    """News of a machine: boxes that changed, the last bead drawn, its totals after a lesson.

    ``lesson`` is the number of its last lesson, as far as the sender knew.
    """

    boxes: list[BoxNews]
    drawn: dict[str, Any] | None
    totals: dict[str, int] | None
    lesson: int


def box_news(boxes: Iterable[HoldsBeads], lesson: int) -> list[BoxNews]:
    """Boxes as a lesson left them, each once: a box that changed twice as it was after the last change."""
    return list({box.position: BoxNews(**box_state(box), lesson=lesson) for box in boxes}.values())


class ShareState(TypedDict):
    """A share of some games, and its 95 % interval."""

    value: float
    low: float
    high: float


class SampleState(TypedDict):
    """Results of some games as shares."""

    win: ShareState
    draw: ShareState
    loss: ShareState


class PointSoFar(TypedDict):
    """Results of a training up to a number of games, and the strength then."""

    games: int
    wins: int
    draws: int
    losses: int
    strength: dict[str, dict[str, Any]]


class PointState(PointSoFar, total=False):
    """A point of a curve. Every point of a run but the first has the results of the games since the point before."""

    in_training: SampleState


class MeasurementState(TypedDict):
    """A snapshot's results with a set of openings against a level; ``confirms``: not used to choose it."""

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
    """A machine as it was after ``games`` games of all its trainings, ``games_of_run`` of them in this run.

    ``games_left_behind`` of them have no effect any more, because an earlier snapshot had been chosen.
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
    """The progress of a training run."""

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
    """A training run, as far as the reader may know it."""

    opponents: list[StageState]


class TournamentBrief(TypedDict):
    """A tournament without its entries and tables."""

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
    """An entry: a machine or a fixed opponent in a tournament."""

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
    """A tournament of which the tables have only lines that differ from version ``since``.

    ``order`` is that of standings and crosstable: the numbers of all entries by side, best first within a side.
    """

    since: int
    order: list[int]


class LatestResults(TypedDict):
    """The results of a machine's latest matches, ten at most."""

    wins: int
    draws: int
    losses: int


class FirstMove(TypedDict):
    """A machine's likely first move and its probability. after: the opening, or empty; move: null to resign."""

    after: str
    move: str | None
    chance: float


class BeadLabel(TypedDict):
    """A bead: its colour, its printed mark and the move that it stands for."""

    colour: int
    mark: str
    name: str


class FirstBox(TypedDict):
    """A machine's first box, or that after an opening (``after``): its beads at the start and now."""

    after: str
    slots: list[BeadLabel]
    before: list[int]
    now: list[int]


class Progress(TypedDict):
    """The progress of a machine. ``results`` are those of its latest matches, ten at most, oldest first.

    ``points`` are its exact points in a game against random play. ``holds`` is its exact probability of not losing
    against perfect play. Both are null if unknown. Curves are pairs of games and the figure after them, empty if
    unknown.
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
    """A private entry of a tournament, and its audience."""

    entry: int
    audience: list[int | str] | None
