"""A Python program that makes a machine or plays a tournament again, and the files that the program needs.

A machine can be made again if two conditions hold. It began with the memory of a new machine. It has learnt only in
training runs, against fixed opponents, itself, or machines that can be made again too. Every run has a seed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from django.db.models import F, Max, Min, Prefetch, Q, Sum
from django.urls import reverse

from beadbox.learners.registry import STATES
from beadbox.rules.outcome import Side
from learning.kinds.registry import kind_of
from learning.models import JobStatus, Lesson, LessonKind, Machine, RunStage, Tournament, TournamentEntry, TrainingRun
from learning.selectors import code
from learning.selectors.code import LoadedMachine, NewMachine, Step, Training

MayExport = Callable[[Machine], bool]
"""Whether the viewer may have the complete state of a machine."""

TAUGHT_TEXT = (
    "People taught it, or it began with beads from elsewhere. So no seed repeats it, and its file has what it knows."
)
IN_TRAINING_TEXT = "It is in training. Until that ends, its file has what it knows now."
TOO_LONG_TEXT = f"Its trainings take more than {code.MAX_LINES} lines of code. So its file has what it knows."
STOPPED_TEXT = "This tournament was stopped, so no code repeats its results."
HIDDEN_TEXT = "A machine of this tournament was deleted or is private, so no code repeats it."


@dataclass(frozen=True, slots=True)
class CodeFile:
    """A file that a program loads: its name and its address."""

    name: str
    url: str


@dataclass(frozen=True, slots=True)
class Code:
    """The code on a page: a program, a note if the program does not train the machine, and the files that it loads."""

    lines: str = ""
    note: str = ""
    files: tuple[CodeFile, ...] = ()


class NotRepeatedError(Exception):
    """No program can make a machine again; the message says why."""


def machine_code(machine: Machine, may_export: MayExport) -> Code | None:
    """Return the code of a machine's page; ``None`` if the library has no machines of its kind."""
    if machine.rule.kind not in STATES:
        return None
    try:
        lines = code.machine_code(machine_steps(machine, may_export))
        if code.n_lines(lines) > code.MAX_LINES:
            raise NotRepeatedError(TOO_LONG_TEXT)
    except NotRepeatedError as error:
        file = CodeFile(f"{machine.slug}.json", reverse("api-machine-export", args=[machine.slug]))
        return Code(code.machine_code([LoadedMachine("m", file.name)]), str(error), (file,))
    return Code(lines)


def tournament_code(tournament: Tournament, may_export: MayExport) -> Code:
    """Return the code of a tournament's page.

    The code loads a machine with a long history from a file of the machine as it entered the tournament.
    """
    if tournament.status in (JobStatus.CANCELLED, JobStatus.FAILED):
        return Code(note=STOPPED_TEXT)
    players: dict[str, list[Step] | str] = {}
    files: dict[str, CodeFile] = {}
    for entry in tournament.entries.select_related("machine"):
        name = _unused_name(entry.name, players)
        if entry.opponent:
            players[name] = entry.opponent
            continue
        machine = entry.machine
        if machine is None or not may_export(machine) or machine.rule.kind not in STATES:
            return Code(note=HIDDEN_TEXT)
        files[name] = CodeFile(
            f"{machine.slug}-entry.json", reverse("tournament_entry", args=[tournament.pk, entry.number])
        )
        try:
            players[name] = machine_steps(machine, may_export, entry, f"m{entry.number + 1}")
        except NotRepeatedError:
            players[name] = [LoadedMachine(f"m{entry.number + 1}", files[name].name)]
    max_lines = code.MAX_LINES + code.MAX_LINES_PER_ENTRY * len(files)
    while code.n_lines(lines := code.tournament_code(tournament, players)) > max_lines:
        longest = max(files, key=lambda name: len(players[name]))
        if len(players[longest]) == 1:
            break
        players[longest] = [LoadedMachine(_variable_name(players[longest]), files[longest].name)]
    loaded = tuple(file for name, file in files.items() if isinstance(players[name][0], LoadedMachine))
    return Code(lines, files=loaded)


def machine_steps(
    machine: Machine, may_export: MayExport, entry: TournamentEntry | None = None, variable: str = "m"
) -> list[Step]:
    """Return the steps that make a machine again, by default as it is now, or as it entered a tournament.

    Raises:
        NotRepeatedError: the machine, or a machine in its training runs, has learnt by other means than such runs.
    """
    history = _History(may_export)
    if entry is None:
        history.read(machine, None)
        return list(history.steps(machine, variable))
    later = machine.lessons.filter(number__gt=entry.n_lessons) if entry.n_lessons is not None else machine.lessons
    if entry.n_lessons is None:
        later = later.filter(created_at__gt=entry.tournament.created_at)
    history.read(machine, later.aggregate(begin=Min("pk"))["begin"])
    if machine.n_forgotten and not history.runs:
        raise NotRepeatedError(TAUGHT_TEXT)  # a reset may have come after the tournament
    return list(history.steps(machine, variable))


def _variable_name(steps: list[Step] | str) -> str:
    assert not isinstance(steps, str)
    return steps[0].name


def _unused_name(name: str, used: dict[str, list[Step] | str]) -> str:
    number = 2
    unused = name
    while unused in used:
        unused, number = f"{name} ({number})", number + 1
    return unused


@dataclass
class _History:
    """The training runs that made a machine, and the machines that took part.

    Ids of lessons are in the order of time for every machine, because a lesson is stored under the machine's lock.
    """

    may_export: MayExport
    machines: dict[int, Machine] = field(default_factory=dict)
    ends: dict[int, int | None] = field(default_factory=dict)
    """For each machine, the id of the first lesson after the needed part of its history; ``None``: all lessons."""
    runs: dict[int, TrainingRun] = field(default_factory=dict)
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The ids of each run's first and last lesson."""

    def read(self, machine: Machine, end: int | None) -> None:
        """Add the history of a machine before the lesson with the id ``end``, or to the present.

        Raises:
            NotRepeatedError: the machine has learnt by other means than training runs with seeds.
        """
        if machine.pk in self.ends:
            known = self.ends[machine.pk]
            if known is None or (end is not None and end <= known):
                return
        elif not self.may_export(machine):
            raise NotRepeatedError(TAUGHT_TEXT)
        until = Q() if end is None else Q(pk__lt=end)
        # A popular machine has thousands of lessons of matches. ``exists`` stops at the first.
        if machine.lessons.filter(until).exclude(kind=LessonKind.TRAINING).exists():
            raise NotRepeatedError(TAUGHT_TEXT)
        if machine.pk not in self.ends and not kind_of(machine).memory.begins_fresh(machine):
            raise NotRepeatedError(TAUGHT_TEXT)
        self.machines[machine.pk], self.ends[machine.pk] = machine, end
        games = Sum(F("n_wins") + F("n_draws") + F("n_losses"))
        if (machine.lessons.aggregate(games=games)["games"] or 0) != machine.n_games:
            raise NotRepeatedError(TAUGHT_TEXT)
        groups = list(
            machine.lessons.filter(until)
            .order_by()
            .values("run_id")
            .annotate(begin=Min("pk"), end=Max("pk"), games=games)
            .order_by("begin")
        )
        if len(groups) > code.MAX_LINES:  # each run takes a line
            raise NotRepeatedError(TOO_LONG_TEXT)
        ids = [group["run_id"] for group in groups]
        runs = _runs_by_id(ids)
        spans = Lesson.objects.filter(run__in=ids).order_by().values_list("run_id").annotate(Min("pk"), Max("pk"))
        self.spans |= {run: (begin, last) for run, begin, last in spans}
        last = 0
        for group in groups:
            run = runs.get(group["run_id"])
            if run is None or group["begin"] < last:
                raise NotRepeatedError(TAUGHT_TEXT)
            last = group["end"]
            if run.finished_at is None:
                raise NotRepeatedError(IN_TRAINING_TEXT)
            if group["games"] != _count_learnt_games(run, machine.pk):
                raise NotRepeatedError(TAUGHT_TEXT)
            self._add_run(run)

    def _add_run(self, run: TrainingRun) -> None:
        if run.pk in self.runs:
            return
        if run.n_left_out:
            raise NotRepeatedError(TAUGHT_TEXT)
        self.runs[run.pk] = run
        begin, last = self.spans[run.pk]
        self.read(run.machine, last + 1)
        for stage, _ in _played_stages(run):
            other = stage.opponent_machine
            if other is None:
                if stage.is_without_opponent and not stage.is_against_unstored:
                    raise NotRepeatedError(TAUGHT_TEXT)
            elif other.pk == run.machine_id:
                continue
            elif stage.opponent_learns:
                if stage.most_values is not None and other.n_values >= stage.most_values:
                    raise NotRepeatedError(TAUGHT_TEXT)
                self.read(other, last + 1)
            else:
                if other.lessons.filter(pk__gt=begin, pk__lt=last).exclude(run=run).exists():
                    raise NotRepeatedError(TAUGHT_TEXT)
                self.read(other, begin)

    def steps(self, machine: Machine, variable: str) -> Iterator[Step]:
        """Yield the steps that make ``machine`` in this variable. The other machines get its name with a number."""
        others = [pk for pk in self.machines if pk != machine.pk]
        names = {machine.pk: variable} | {pk: f"{variable}_{number}" for number, pk in enumerate(others, 2)}
        for pk, one in self.machines.items():
            yield NewMachine(names[pk], one.game, None if one.side is None else Side(one.side), one.rule)
        for run in sorted(self.runs.values(), key=lambda run: self.spans[run.pk]):
            seed: int | None = run.seed
            learner = run.machine
            for stage, games in _played_stages(run):
                against, is_machine = stage.opponent, stage.opponent == "machine"
                if stage.is_against_unstored:
                    assert learner.side is not None, "the machine has boxes"
                    against = f"{variable}_teacher_{run.pk}"
                    yield NewMachine(against, learner.game, Side(learner.side).other, f"{names[learner.pk]}.rule")
                elif is_machine:
                    against = names[stage.opponent_machine_id or 0]
                yield Training(names[learner.pk], games, against, seed, is_machine, stage.opponent_learns)
                seed = None


def _runs_by_id(ids: list[int]) -> dict[int, TrainingRun]:
    """Return runs with their machines and their stages."""
    stages = Prefetch("stages", RunStage.objects.select_related("opponent_machine"))
    return TrainingRun.objects.select_related("machine").prefetch_related(stages).in_bulk(ids)


def _played_stages(run: TrainingRun) -> Iterator[tuple[RunStage, int]]:
    """Yield the stages of a run that have begun, with the number of games that were played in each."""
    n_remaining = run.games_done
    for stage in run.stages.all():
        if n_remaining:
            n_games = min(n_remaining, stage.n_games)
            yield stage, n_games
            n_remaining -= n_games


def _count_learnt_games(run: TrainingRun, machine_id: int) -> int:
    """Return the number of games that a run taught a machine; games of a machine against itself count twice."""
    games = Counter[int]()
    for stage, n_games in _played_stages(run):
        games[run.machine_id] += n_games
        if stage.opponent_learns and stage.opponent_machine_id is not None:
            games[stage.opponent_machine_id] += n_games
    return games[machine_id]
