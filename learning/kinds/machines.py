"""Functions on a machine of any kind, which call the parts of its kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from beadbox.learners.exchange.document import Document
from beadbox.learners.exchange.errors import ExchangeError
from beadbox.learners.formats import format_get
from beadbox.learners.presets import ALL_PRESETS
from beadbox.learners.registry import STATES, rule_read
from beadbox.policies.table import ContestPlayer
from beadbox.rules.game import AnyGame
from learning.exceptions import EntryGoneError, MachineFileError
from learning.kinds.registry import kind_of, kind_of_rule, usual_kind
from learning.models import Machine, TournamentEntry
from learning.selectors.strength import Strength, strength_at_last_point
from learning.storage.lessons import has_ledger_since

FIRST_CHUNK_GAMES = 50_000
"""Number of games in the first chunk of a run that a compiled loop plays."""
MAX_POINTS = 12
"""Maximum number of points of a curve where strength is a sample."""


def strength_without_games(machine: Machine) -> Strength:
    """Return the exact strength, or the latest measurement if strength is a sample. No games are played."""
    training = kind_of(machine).training
    return training.strength(machine) if training.has_table(machine) else strength_at_last_point(machine)


def opponent_machines(machine: Machine, among: QuerySet[Machine], limit: int = 100) -> list[Machine]:
    """Return the machines that this one can be trained against, by name; at most ``limit``."""
    return list(kind_of(machine).training.partners(machine, among).order_by("name", "pk")[:limit])


def pairing_sentences(game: AnyGame, machines: Sequence[Machine]) -> str:
    """Return one or two sentences on how these machines are paired in a tournament.

    Without machines, the sentences are about the default kind of machine for the game.
    """
    default_kind = usual_kind(game)
    kinds = {kind_of(machine) for machine in machines} or ({default_kind} if default_kind else set())
    either_side = {kind.occupant_class.either_side for kind in kinds}
    if either_side == {True}:
        return "Here a machine plays either side, so every two machines meet twice."
    if True not in either_side:
        return "A machine plays one side only. It meets players that can play the other side."
    return (
        "Two players that play either side meet twice. A machine that plays one side meets players of the other side."
    )


@dataclass(frozen=True, slots=True)
class MachineFile:
    """A machine's file for download."""

    name: str
    media_type: str
    text: str


def machine_export(machine: Machine, form: str = "native", *, any_size: bool = False) -> MachineFile:
    """Return a machine as a file. ``form`` is the slug of a format in :data:`~beadbox.learners.formats.FORMATS`.

    With ``any_size``, the file may hold more values than an import accepts.

    Raises:
        MachineFileError: there is no such format, or the machine does not fit into it.
    """
    try:
        file_format = format_get(form)
        text = kind_of(machine).files.dump(machine, file_format, any_size=any_size)
    except ExchangeError as error:
        raise MachineFileError(str(error)) from None
    extra = "" if form == "native" else f".{form}" if form != file_format.suffix else ""
    return MachineFile(f"{machine.slug}{extra}.{file_format.suffix}", file_format.media_type, text)


def entry_file(machine: Machine, entry: TournamentEntry) -> str:
    """Return the file of a machine as it was when its tournament began.

    Raises:
        EntryGoneError, HistoryCompactedError: the machine's memory of that time no longer exists.
        MachineFileError: the library has no machines of its kind.
    """
    entry_require(entry)
    if machine.rule.kind not in STATES:
        raise MachineFileError("There is no file of this machine as it entered the tournament.")
    return kind_of(machine).files.dump(machine, format_get("native"), entry=entry)


def import_notes(machine: Machine, data: Document, choose: str) -> list[str]:
    """Return notes for the account that imported this machine, one sentence each, from the content of its file.

    ``choose`` is the end of the sentence "import the file again and …".
    """
    preset = ALL_PRESETS.get(data.preset)
    rule_name = f"{preset.name} ({preset.slug})" if preset and preset.rule == data.rule else "a rule of its own"
    return kind_of_rule(data.rule).files.import_notes(machine, data, rule_name, choose)


def first_chunk_games(machine: Machine) -> int:
    """Return the number of games in the first chunk of a run, when the duration of a game is not yet known."""
    training = kind_of(machine).training
    return FIRST_CHUNK_GAMES if training.has_table(machine) else training.sampling.n_first_games


def max_curve_points(machine: Machine, n_games: int) -> int:
    """Return the maximum number of points, besides the start, of a sampled curve over ``n_games`` games."""
    per_point = kind_of(machine).training.sampling.games_per_point
    return min(MAX_POINTS, max(3, n_games // per_point)) if per_point else MAX_POINTS


def entry_player(entry: TournamentEntry, game: AnyGame) -> ContestPlayer:
    """Return the player of an entry: the machine as it was when the tournament of this game began.

    Raises:
        EntryGoneError: the machine's memory of that time no longer exists.
    """
    entry_require(entry)
    return kind_of_rule(rule_read(entry.rule)).training.entrant(entry, game)


def entry_require(entry: TournamentEntry) -> None:
    """Refuse an entry without its memory, which was deleted during the tournament.

    Raises:
        EntryGoneError: the machine's memory of the start of the tournament no longer exists.
    """
    # An entry without a number of lessons has its own copy of the memory.
    if entry.n_lessons is None:
        return
    if entry.machine_id is None or not has_ledger_since(entry.machine_id, entry.n_lessons):
        raise EntryGoneError(f"{entry.name} was deleted or made to forget while the tournament went on.")
