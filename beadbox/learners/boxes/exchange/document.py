"""The contents of a box machine's file, and the conversion of boxes in any orientation to canonical form.

Another program's file may have a position in any orientation. The position, with its beads, is converted into the
canonical position of its orbit. If two entries belong to the same orbit, they must have the same beads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import BoxRule, BoxSet
from beadbox.learners.exchange.document import MAX_TEXT, ImportOptions
from beadbox.learners.exchange.errors import ExchangeError, shown
from beadbox.rules.errors import InvalidMoveError, InvalidPositionError
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.strength.graph import graph_compile

BLANKS = " _-."
"""Characters that programs write for an empty place."""


@dataclass(frozen=True, slots=True)
class BoxData:
    """A box: its canonical position, and its beads and draws, with one number for each slot."""

    position: str
    beads: tuple[int, ...]
    visits: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A report for the user of an import: which rule a file without a rule got, and which beads were left out."""

    is_chosen: bool
    """Whether the user chose the rule; otherwise it is the usual rule of the format."""
    stretched: str = ""
    """Slug of the usual rule if the rule was changed to fit the file, else empty."""
    beads_set_aside: int = 0
    """Number of beads that were left out because they lay on illegal moves."""
    boxes_set_aside: int = 0
    """Number of boxes from which beads were left out."""
    why_set_aside: str = ""
    """The reason for beads on illegal moves; empty if there is none."""


@dataclass(frozen=True, slots=True)
class MachineData:
    """The complete state of a machine with boxes, without its history: the contents of a native file."""

    game: AnyGame
    side: Side
    rule: BoxRule
    name: str
    boxes: tuple[BoxData, ...]
    description: str = ""
    preset: str = ""
    learns: bool = True
    wins: int = 0
    draws: int = 0
    losses: int = 0
    random_state: str = ""
    removed: int = 0
    reading: Reading | None = field(default=None, compare=False)
    """A report on the import; ``None`` for a file with its own rule. The report is not part of the machine's state."""

    @property
    def cabinet(self) -> Cabinet:
        """The boxes that the machine may have."""
        return Cabinet(self.game, self.side, self.rule)


@dataclass(frozen=True, slots=True)
class Entry:
    """A box as another program's file stores it. Moves refer to the position in the file's orientation.

    The keys are texts of moves, or indices of cells where the program counts beads by square.
    """

    where: str
    text: str
    beads: Mapping[str | int, int]
    visits: Mapping[str | int, int] = field(default_factory=dict)
    set_aside: int = 0
    """Number of beads on illegal moves, such as occupied squares; ``beads`` leaves them out."""


def machine_from(
    entries: Sequence[Entry],
    options: ImportOptions,
    *,
    preset: str,
    usual: BoxRule | None = None,
    name: str = "",
    why_set_aside: str = "",
    **details: Any,
) -> MachineData:
    """Return the machine that a file of another program describes.

    Args:
        entries: its boxes.
        options: the choices of the import; a missing game or side follows from the positions.
        preset: slug of the other program's usual rule, for an import without a chosen rule. If the file needs boxes
            for forced moves or a higher cap, the rule is changed accordingly.
        usual: a rule that replaces the rule of the preset, if the file needs other changes.
        name: the machine's name in the file.
        why_set_aside: why the program's files contain beads on illegal moves; empty if they never do.
        **details: other fields of the result, such as totals.

    Raises:
        ExchangeError: an entry cannot be a box of such a machine.
    """
    if not entries:
        raise ExchangeError("", "no_box")
    game, positions = _game_of(entries, options)
    side = _side_of(game, entries, positions, options.side)
    own_entries = [(e, p) for e, p in zip(entries, positions, strict=True) if game.side_to_move(p) == side]
    if not own_entries:
        raise ExchangeError("", "no_box_of_side", role=game.presentation.layout.role_names[side])
    rule, slug, stretched = options.rule, options.preset, ""
    assert rule is None or isinstance(rule, BoxRule), "the files of this format have boxes"
    if rule is None:
        rule = _adapted_rule(usual or PRESETS[preset].rule, game, own_entries)
        slug, stretched = (preset, "") if rule == PRESETS[preset].rule else ("", preset)
    cabinet = Cabinet(game, side, rule)
    boxes = _without_duplicates(cabinet, own_entries)
    set_aside = [entry.set_aside for entry, _ in boxes if entry.set_aside]
    return MachineData(
        game=game,
        side=side,
        rule=rule,
        preset=slug,
        name=options.name or name or f"Imported: {game.name}",
        reading=Reading(
            is_chosen=options.rule is not None,
            stretched=stretched,
            beads_set_aside=sum(set_aside),
            boxes_set_aside=len(set_aside),
            why_set_aside=why_set_aside,
        ),
        boxes=boxes_sorted(game, (box for _, box in boxes)),
        **details,
    )


def _without_duplicates(cabinet: Cabinet, entries: Iterable[tuple[Entry, Any]]) -> list[tuple[Entry, BoxData]]:
    """Return each entry with its box. Of several entries with the same box, keep the first.

    Raises:
        ExchangeError: two entries of one box have different beads.
    """
    boxes: dict[str, tuple[Entry, BoxData]] = {}
    for entry, position in entries:
        box = _box_of(cabinet, entry, position)
        earlier = boxes.setdefault(box.position, (entry, box))
        if _normalised(cabinet, earlier[1]) != _normalised(cabinet, box):
            other = earlier[0]
            names = {"box": shown(entry.text), "other": shown(other.text), "place": other.where}
            raise ExchangeError(entry.where, "boxes_differ", **names)
    return list(boxes.values())


def boxes_sorted(game: AnyGame, boxes: Iterable[BoxData]) -> tuple[BoxData, ...]:
    """Sort boxes in order of play, which is their order in every file."""
    return tuple(sorted(boxes, key=lambda box: (game.ply(game.decode(box.position)), box.position)))


def box_checked(
    cabinet: Cabinet, position: AnyPosition, beads: Sequence[int], visits: Sequence[int], where: str
) -> BoxData:
    """Return the box of a canonical position, after a check that a machine of this cabinet can have it.

    Raises:
        ExchangeError: the machine cannot have this box, or the box cannot have these beads.
    """
    game, rule = cabinet.game, cabinet.rule
    text = game.encode(position)
    if game.is_terminal(position):
        raise ExchangeError(where, "box_of_ended_game", position=repr(text))
    if game.side_to_move(position) != cabinet.side:
        raise ExchangeError(where, "other_side", position=repr(text))
    if not cabinet.has_box(position):
        raise ExchangeError(where, "forced_move", position=repr(text))
    if game.listable and position not in graph_compile(game, reduced=rule.reduce_symmetry).node_id:
        raise ExchangeError(where, "unreachable", position=repr(text))
    n_slots = len(cabinet.slot_classes(position))
    if not len(beads) == len(visits) == n_slots:
        raise ExchangeError(where, "n_slots", position=repr(text), n_slots=n_slots)
    for count in beads:
        if count > rule.highest:
            raise ExchangeError(where, "above_cap", count=count, cap=rule.highest)
        if count < rule.floor and not (count == 0 and rule.removes):
            raise ExchangeError(where, "below_floor", count=count, floor=rule.floor)
    if sum(beads) >= 1 << 32:
        raise ExchangeError(where, "too_many_beads")
    return BoxData(text, tuple(beads), tuple(visits))


def _game_of(entries: Sequence[Entry], options: ImportOptions) -> tuple[AnyGame, list[AnyPosition]]:
    """Return the game of the entries, and their positions.

    The game is the one of the options, or else a game that can read all entries. A text without the side to move may be
    read for either side. If several readings succeed, the result is the reading in which most entries have only legal
    moves; of equal readings the first.
    """
    if options.game is not None and not BoxRule.fits(options.game):
        raise ExchangeError("game", "game_keeps_values", game=options.game.name)
    furthest: ExchangeError | None = None
    n_read = -1
    by_cell = any(isinstance(key, int) for entry in entries for key in entry.beads)
    readings: list[tuple[AnyGame, list[AnyPosition]]] = []
    for game in (options.game,) if options.game is not None else filter(BoxRule.fits, GAMES.values()):
        for side in Side if options.side is None else (options.side,):
            positions: list[AnyPosition] = []
            try:
                for entry in entries:
                    positions.append(_decode_entry(game, entry, side))  # noqa: PERF401  # its length selects the message
            except ExchangeError as error:
                if len(positions) > n_read:
                    furthest, n_read = error, len(positions)
            else:
                if not by_cell or all(_is_cell_enough(game, position) for position in positions):
                    readings.append((game, positions))
    if not readings:
        assert furthest is not None, "there is a game"
        if n_read == 0 and options.game is None:
            first = entries[0]
            raise ExchangeError(first.where, "no_game", position=shown(first.text))
        raise furthest
    return max(readings, key=lambda reading: _n_legal(reading[0], reading[1], entries))


def _is_cell_enough(game: AnyGame, position: AnyPosition) -> bool:
    """Return whether no two moves of a position touch the same cells, so that a cell names its move."""
    moves = game.legal_moves(position)
    return len({game.path(move) for move in moves}) == len(moves)


def _n_legal(game: AnyGame, positions: Sequence[AnyPosition], entries: Sequence[Entry]) -> int:
    """Return the number of entries with only legal moves."""
    legal = ({game.format_move(move) for move in game.legal_moves(position)} for position in positions)
    return sum(
        all(isinstance(key, int) or key in moves for key in entry.beads)
        for entry, moves in zip(entries, legal, strict=True)
    )


def _decode_entry(game: AnyGame, entry: Entry, side: Side) -> AnyPosition:
    """Return the position of an entry. If the text omits the side to move, ``side`` is to move.

    Each of :data:`BLANKS` may stand for an empty place.
    """
    if len(entry.text) > MAX_TEXT:
        raise ExchangeError(entry.where, "no_position", text=shown(entry.text))
    blank = next((blank for blank in BLANKS if blank in game.encode(game.initial_position())), None)
    text = entry.text if blank is None else entry.text.translate(dict.fromkeys(map(ord, BLANKS), blank))
    try:
        return game.decode_as(text, side)
    except InvalidPositionError as error:
        raise ExchangeError(entry.where, "position", problem=error.sentence) from None


def _side_of(
    game: AnyGame, entries: Sequence[Entry], positions: Sequence[AnyPosition], requested_side: Side | None
) -> Side:
    if requested_side is not None:
        return requested_side
    side = game.side_to_move(positions[0])
    for entry, position in zip(entries, positions, strict=True):
        if game.side_to_move(position) is not side:
            roles = game.presentation.layout.role_names
            names = {"role": roles[side.other], "place": entries[0].where, "other": roles[side]}
            raise ExchangeError(entry.where, "both_sides", **names)
    return side


def _adapted_rule(usual: BoxRule, game: AnyGame, entries: Sequence[tuple[Entry, Any]]) -> BoxRule:
    """Return the usual rule, changed as little as needed to hold these boxes."""
    rule = usual
    if any(len(game.legal_moves(position)) == 1 for _, position in entries):
        rule = replace(rule, box_set=BoxSet.ALL)
    max_beads = max((count for entry, _ in entries for count in entry.beads.values()), default=0)
    if rule.cap is not None and max_beads > rule.cap:
        rule = replace(rule, cap=max_beads)
    return rule


def _box_of(cabinet: Cabinet, entry: Entry, position: AnyPosition) -> BoxData:
    """Return the entry as a box in canonical form."""
    game = cabinet.game
    if game.is_terminal(position):
        raise ExchangeError(entry.where, "box_of_ended_game", position=shown(entry.text))
    canonical, placement = cabinet.box_and_placement(position)
    to_canonical = game.inverses[placement]
    n_slots = len(cabinet.slot_classes(canonical))
    numbers = ([0] * n_slots, [0] * n_slots)
    for counts, counts_by_slot in zip(numbers, (entry.beads, entry.visits), strict=True):
        for key, count in counts_by_slot.items():
            move = _move_of(game, position, key, entry.where)
            if move is not None:
                counts[cabinet.slot_index(canonical, game.transform_move(move, to_canonical))] += count
            elif count:
                names = {"move": _key_name(game, key), "position": shown(entry.text)}
                raise ExchangeError(entry.where, "illegal_move", **names)
    return box_checked(cabinet, canonical, *numbers, where=entry.where)


def _move_of(game: AnyGame, position: AnyPosition, key: str | int, where: str) -> AnyMove | None:
    """Return the legal move that a key stands for; ``None`` if there is none."""
    legal = game.legal_moves(position)
    if isinstance(key, int):
        if any(len(game.path(move)) != 1 for move in legal):
            raise ExchangeError(where, "beads_on_squares", game=game.name)
        return next((move for move in legal if game.path(move) == (key,)), None)
    try:
        move = game.parse_move(key)
    except InvalidMoveError as error:
        raise ExchangeError(where, "move", problem=error.sentence) from None
    return move if move in legal else None


def _key_name(game: AnyGame, key: str | int) -> str:
    if isinstance(key, int):
        cells = game.presentation.layout.cells
        return cells[key].name if key < len(cells) else f"square {key + 1}"
    return shown(key)


def _normalised(cabinet: Cabinet, box: BoxData) -> tuple[tuple[int, int], ...]:
    """Return pairs of beads and visits by slot, in a normal order.

    Boxes that differ only by a symmetry of their position give equal results.
    """
    game = cabinet.game
    if not cabinet.rule.reduce_symmetry or cabinet.rule.merge_symmetric_moves:
        return tuple(zip(box.beads, box.visits, strict=True))
    position = game.decode(box.position)
    legal = game.legal_moves(position)
    return min(
        tuple((box.beads[slot], box.visits[slot]) for slot in permuted_slots)
        for symmetry in game.stabiliser(position)
        for permuted_slots in ([legal.index(game.transform_move(move, symmetry)) for move in legal],)
    )
