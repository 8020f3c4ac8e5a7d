"""What goes over the wire about boxes, training runs and tournaments, field by field."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypedDict


class BoxState(TypedDict):
    """What changes about a box."""

    position: str
    beads: list[int]
    draws: list[int]


class HoldsBeads(Protocol):
    """A box, wherever it was read."""

    @property
    def position(self) -> str: ...

    @property
    def beads(self) -> list[int]: ...

    @property
    def visits(self) -> list[int]: ...


def box_state(box: HoldsBeads) -> BoxState:
    """A box as it goes over the wire."""
    return {"position": box.position, "beads": box.beads, "draws": box.visits}


class BoxNews(BoxState):
    """A box that changed, and the number of its machine's lesson since which it holds this."""

    lesson: int


class MachineNews(TypedDict):
    """What has become of a machine: boxes that changed, the last bead drawn, its totals after a lesson.

    ``lesson`` is the number of its last lesson, as far as who tells it knew.
    """

    boxes: list[BoxNews]
    drawn: dict[str, Any] | None
    totals: dict[str, int] | None
    lesson: int


def box_news(boxes: Iterable[HoldsBeads], lesson: int) -> list[BoxNews]:
    """Boxes as a lesson left them, each once: of one that it changed twice the last."""
    return list({box.position: BoxNews(**box_state(box), lesson=lesson) for box in boxes}.values())


class ShareState(TypedDict):
    """A share of some games, and its 95 % interval."""

    value: float
    low: float
    high: float


class SampleState(TypedDict):
    """How some games went."""

    win: ShareState
    draw: ShareState
    loss: ShareState


class PointSoFar(TypedDict):
    """What had happened in training by then, and the strength."""

    games: int
    wins: int
    draws: int
    losses: int
    strength: dict[str, dict[str, Any]]


class PointState(PointSoFar, total=False):
    """A point of a curve; of all of a run but the first, how the games since the point before went."""

    in_training: SampleState


class MeasurementState(TypedDict):
    """What a snapshot made of a set of openings against a level, so far; ``confirms``: it was not chosen by these."""

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
    """A machine as it was after so many ``games`` of all its trainings, ``games_of_run`` of them in its run.

    ``games_left_behind`` of them it knew nothing of any more: an earlier one had been chosen.
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
    """An opponent of a run."""

    opponent: str
    machine: int | None
    learns: bool
    games: int


class RunProgress(TypedDict):
    """How far a training run is."""

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
    """A training run as whoever asks may know it."""

    opponents: list[StageState]


class TournamentBrief(TypedDict):
    """What a list says of a tournament."""

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
    """Who takes part."""

    number: int
    name: str
    opponent: str | None
    machine: int | None
    side: int | None
    url: str | None


class StandingState(TypedDict):
    """A line of the standings."""

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
    """What an entry did against another."""

    entry: int
    games: int
    points: float
    expected: float | None


class CrossState(TypedDict):
    """A line of the crosstable."""

    entry: int
    against: list[CellState]


class PairingState(TypedDict):
    """So many games between two entries."""

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
    """A tournament as it stands."""

    version: int
    error: str
    pairings_done: int
    pairings_total: int
    entries: list[EntryState]
    standings: list[StandingState]
    crosstable: list[CrossState]
    pairings: list[PairingState]


class TournamentChange(TournamentState):
    """A tournament as it stands, of its tables only the lines that differ from version ``since``.

    ``order`` is that of standings and crosstable: the numbers of all entries, by side, the best of each first.
    """

    since: int
    order: list[int]


class LatestTold(TypedDict):
    """What came of a machine's latest matches, ten at most."""

    wins: int
    draws: int
    losses: int


class FirstMove(TypedDict):
    """What a machine would do first: after an opening (empty: it begins), the move (null: it gives up), how surely."""

    after: str
    move: str | None
    chance: float


class BeadTold(TypedDict):
    """A bead: its colour, its printed mark and the move that it stands for."""

    colour: int
    mark: str
    name: str


class FirstBox(TypedDict):
    """A machine's first box, or that for an opening (``after``): its beads, as laid out and as they are."""

    after: str
    slots: list[BeadTold]
    before: list[int]
    now: list[int]


class Progress(TypedDict):
    """How far a machine has come. ``results`` are those of its latest matches, ten at most, the last one last.

    ``points`` are its exact points in a game against random play, ``holds`` is its exact chance not to lose against
    perfect play; null where unknown. Curves are pairs of games and what that was after so many, empty where unknown.
    """

    games: int
    latest: LatestTold
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
    """An entry that is not for everybody, and who may know of it."""

    entry: int
    audience: list[int | str] | None
