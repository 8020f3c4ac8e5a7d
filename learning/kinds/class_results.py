"""The results of a class for its pages: places, a typical match, a table for download, and sheets to print."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import TypedDict

from django.template.defaultfilters import pluralize

from beadbox.policies.registry import UNIFORM
from beadbox.rules.game import AnyGame
from games.live.states import DrawState
from learning.kinds.boxes.final import pupil_sheets
from learning.kinds.boxes.live import draw_view
from learning.kinds.boxes.training import class_points, present_curve
from learning.models import (
    SIDE_CHOICES,
    ClassFinal,
    Classroom,
    Draw,
    FinalPly,
    FinalResults,
    Machine,
    PupilPlace,
)
from learning.selectors.classrooms import pupils_of

RESULT_COLUMNS = (
    *("number", "name", "side", "games", "wins", "draws", "losses", "points_against_random"),
    *("final_place", "final_points", "final_win", "final_draw", "final_loss", "final_endless"),
)


class PlaceView(PupilPlace):
    """A place of the final with the name of the pupil."""

    name: str


class FrameView(TypedDict):
    """A picture of the typical match: the board after a move, the cells of the move, a sentence, and the bead drawn."""

    board: list[str | None]
    lit: list[str]
    words: str
    draw: DrawState | None


class FinalView(TypedDict):
    """A finished final as pages show it.

    ``against`` is the opponent of the machines; empty in a class with machines on both sides.
    """

    against: str
    places: list[PlaceView]
    players: list[str]
    frames: list[FrameView]
    result: str


def final_view(classroom: Classroom, final: ClassFinal) -> FinalView:
    """Return a finished final as pages show it."""
    reader = _FinalReader(classroom, final, hides_names=classroom.hides_names)
    game, match = reader.game, reader.results["match"]
    players = [reader.player(number) for number in match["pupils"]]
    machines = [reader.machine(number) for number in match["pupils"]]
    start = list(game.pieces(game.initial_position()))
    frames: list[FrameView] = [{"board": start, "lit": [], "words": "", "draw": None}]
    for ply, step in enumerate(match["plies"]):
        side = game.side_to_move(game.decode(step["position"]))
        draw = _draw(ply, step, machines[side])
        frames.append(_frame(game, step, players[side], draw))
    winner = match["winner"]
    return {
        "against": "" if classroom.side is None else UNIFORM[classroom.opponent].name,
        "places": [{**place, "name": reader.name(place["number"])} for place in reader.results["places"]],
        "players": players,
        "frames": frames,
        "result": "The match is drawn." if winner is None else f"{players[winner]} wins the match.",
    }


def result_rows(classroom: Classroom, final: ClassFinal) -> Iterator[list[object]]:
    """Yield the table of the results: a heading, then a row for each pupil in order of side and place."""
    reader = _FinalReader(classroom, final)
    points = reader.points()
    yield list(RESULT_COLUMNS)
    for place in reader.results["places"]:
        machine = reader.machine(place["number"])
        counts: list[object] = [""] * 5
        if machine is not None:
            counts = [machine.n_games, machine.n_wins, machine.n_draws, machine.n_losses, points.get(machine.pk, "")]
        shares = [place["points"], place["win"], place["draw"], place["loss"], place["endless"]]
        yield [
            *(place["number"], reader.name(place["number"]), dict(SIDE_CHOICES)[place["side"]]),
            *(*counts, place["place"], *shares),
        ]


def result_sheets(classroom: Classroom, final: ClassFinal) -> BytesIO:
    """Return a PDF with one sheet for each pupil that is still in the class.

    Raises:
        PrintRefusedError: the boxes of the game do not fit on the sheet.
    """
    reader = _FinalReader(classroom, final)
    points = reader.points()
    present = [(place, reader.machine(place["number"])) for place in reader.results["places"]]
    sheets = [
        (
            reader.name(place["number"]),
            reader.lines(place, machine),
            machine,
            present_curve(machine, points.get(machine.pk)),
            reader.results["boxes"][str(place["number"])],
        )
        for place, machine in present
        if machine is not None
    ]
    return pupil_sheets(f"{classroom.name}: {reader.game.name}", sheets)


class _FinalReader:
    """The results of a finished final, with the present names of the pupils."""

    def __init__(self, classroom: Classroom, final: ClassFinal, *, hides_names: bool = False) -> None:
        self.classroom, self.game, self.hides_names = classroom, classroom.game_rules, hides_names
        self.results: FinalResults = final.results  # type: ignore[assignment]
        self.pupils = {pupil.number: pupil for pupil in pupils_of(classroom)}

    def name(self, number: int) -> str:
        """Return the name of a pupil as the class shows it now."""
        pupil = self.pupils.get(number)
        return f"Pupil {number}" if pupil is None or self.hides_names else pupil.public_name

    def points(self) -> dict[int, float]:
        """Return the present points of the machines against random play, by id."""
        return class_points([pupil.machine for pupil in self.pupils.values() if pupil.machine is not None])

    def lines(self, place: PupilPlace, machine: Machine) -> list[str]:
        """Return the sentences of a pupil's sheet."""
        of_side = sum(other["side"] == place["side"] for other in self.results["places"])
        games = f"{machine.n_games:,} game{pluralize(machine.n_games)}"
        counts = f"{machine.n_wins:,} won, {machine.n_draws:,} drawn, {machine.n_losses:,} lost"
        return [
            f"This machine {dict(SIDE_CHOICES)[place['side']]}. It has played {games}: {counts}.",
            f"In the final it is number {place['place']} of {of_side}, with {100 * place['points']:.1f} points of 100.",
        ]

    def player(self, number: int | None) -> str:
        return f"Opponent “{UNIFORM[self.classroom.opponent].name}”" if number is None else self.name(number)

    def machine(self, number: int | None) -> Machine | None:
        pupil = None if number is None else self.pupils.get(number)
        return None if pupil is None else pupil.machine


def _draw(ply: int, step: FinalPly, machine: Machine | None) -> DrawState | None:
    if step["draw"] is None or machine is None:
        return None
    return draw_view(machine, Draw(ply=ply, **step["draw"]), step["position"], step["move"] or None, by_hand=False)


def _frame(game: AnyGame, step: FinalPly, player: str, draw: DrawState | None) -> FrameView:
    position = game.decode(step["position"])
    if not step["move"]:
        words = f"{player} has no bead left and gives up."
        return {"board": list(game.pieces(position)), "lit": [], "words": words, "draw": draw}
    move = game.parse_move(step["move"])
    return {
        "board": list(game.pieces(game.apply(position, move))),
        "lit": game.presentation.path_ids(move),
        "words": f"{player} plays {game.presentation.describe_move(move)}.",
        "draw": draw,
    }
