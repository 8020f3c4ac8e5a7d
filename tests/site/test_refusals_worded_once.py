"""A refusal has the same text on a page, over the API and over a socket. Each test tries an action on every path."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django import forms
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from rest_framework import serializers

import learning.exceptions  # noqa: F401  # so that its refusals are among the subclasses
from beadbox.learners.exchange.errors import SENTENCES
from beadbox.rules.errors import IllegalMoveError
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.seeds import MAX_SEED
from games.exceptions import NOT_JSON_TEXT, MoveRefusedError, PlayError
from games.live.serializers import (
    FrameError,
    MoveSerializer,
    ResetSerializer,
    StepSerializer,
    first_error,
    parse_frame,
    parse_move_data,
    parse_step_data,
)
from learning.forms.exchange import ImportForm
from learning.forms.runs import SeedForm
from learning.forms.schedules import TimingForm
from learning.forms.tournaments import TournamentForm
from learning.serializers.runs import RunStartSerializer, StageSerializer
from learning.serializers.schedules import TimingSerializer
from learning.serializers.tournaments import TournamentStartSerializer
from learning.services import tournaments
from tests.factories import house_machines
from tests.site.test_sentences import MOST_WORDS

ROOT = Path(__file__).resolve().parents[2]
TOURNAMENT = {"entries": ["random", "perfect"], "games": 5, "format": "swiss", "rounds": None, "seed": 1}


def by_serializer(kind: type[serializers.Serializer[Any]], /, **data: Any) -> str:
    serializer = kind(data=data)
    assert not serializer.is_valid()
    return first_error(serializer.errors)


def by_form(form: forms.BaseForm, field: str, name: str = "") -> str:
    return f"{name or field}: {form.errors[field][0]}"


def by_frame(parse: Callable[[dict[str, Any]], Any], **data: Any) -> str:
    with pytest.raises(FrameError) as refused:
        parse(data)
    return str(refused.value)


def by_service(**changed: Any) -> str:
    asked = TOURNAMENT | changed
    with pytest.raises(PlayError) as refused:
        tournaments._require_numbers(asked["entries"], asked["games"], asked["format"], asked["rounds"], asked["seed"])
    return str(refused.value)


def tournament_form(**data: Any) -> TournamentForm:
    usual = {"games": 5, "format": "swiss", "opponents": ["random", "perfect"], "seed": 1}
    return TournamentForm(usual | data, game=GAMES["noughts-and-crosses"])


def timing_form(**data: Any) -> TimingForm:
    return TimingForm({"kind": "every", "every": 1, "period": "hours", **data})


class Number(forms.Form):
    """A form with a whole number from 1 to 9."""

    games = forms.IntegerField(min_value=1, max_value=9)


class NumberSerializer(serializers.Serializer[Any]):
    """A serializer with the same whole number."""

    games = serializers.IntegerField(min_value=1, max_value=9)


class Text(forms.Form):
    """A form with a text and a choice."""

    name = forms.CharField(max_length=3)
    kind = forms.ChoiceField(choices=[("a", "A")])


class TextSerializer(serializers.Serializer[Any]):
    """A serializer with the same text and choice."""

    name = serializers.CharField(max_length=3)
    kind = serializers.ChoiceField(choices=["a"])


ACTS: dict[str, Callable[[], set[str]]] = {
    "a move without its text": lambda: {by_frame(parse_move_data), by_serializer(MoveSerializer)},
    "a ply that is no number": lambda: {
        by_frame(parse_move_data, move="5", ply="two"),
        by_serializer(MoveSerializer, move="5", ply="two"),
    },
    "too many plies": lambda: {by_frame(parse_step_data, plies=101), by_serializer(StepSerializer, plies=101)},
    "no plies": lambda: {by_frame(parse_step_data, plies=0), by_serializer(StepSerializer, plies=0)},
    "plies that are no number": lambda: {
        by_frame(parse_step_data, plies="all"),
        by_serializer(StepSerializer, plies="all"),
    },
    "a number left out": lambda: {by_form(Number({}), "games"), by_serializer(NumberSerializer)},
    "an empty number": lambda: {by_form(Number({"games": ""}), "games"), by_serializer(NumberSerializer, games=None)},
    "a number too small": lambda: {by_form(Number({"games": 0}), "games"), by_serializer(NumberSerializer, games=0)},
    "a number too large": lambda: {by_form(Number({"games": 10}), "games"), by_serializer(NumberSerializer, games=10)},
    "no number": lambda: {by_form(Number({"games": "x"}), "games"), by_serializer(NumberSerializer, games="x")},
    "a text too long": lambda: {
        by_form(Text({"name": "long"}), "name"),
        by_serializer(TextSerializer, name="long", kind="a"),
    },
    "an empty text": lambda: {by_form(Text({"name": ""}), "name"), by_serializer(TextSerializer, name="", kind="a")},
    "no such choice": lambda: {
        by_form(Text({"name": "a", "kind": "b"}), "kind"),
        by_serializer(TextSerializer, name="a", kind="b"),
    },
    "a tournament of one": lambda: {
        f"entries: {tournament_form(opponents=['random']).errors['__all__'][0]}",
        by_serializer(TournamentStartSerializer, entries=["random"], games=5).replace("entries.", ""),
        by_service(entries=["random"]),
    },
    "a seed too large": lambda: {
        by_form(tournament_form(seed=MAX_SEED + 1), "seed"),
        by_serializer(TournamentStartSerializer, entries=["random", "perfect"], games=5, seed=MAX_SEED + 1),
        by_service(seed=MAX_SEED + 1),
    },
    "a seed too small": lambda: {
        by_form(tournament_form(seed=-1), "seed"),
        by_serializer(TournamentStartSerializer, entries=["random", "perfect"], games=5, seed=-1),
        by_service(seed=-1),
    },
    "no games in a tournament": lambda: {
        by_form(tournament_form(games=0), "games"),
        by_serializer(TournamentStartSerializer, entries=["random", "perfect"], games=0),
        by_service(games=0),
    },
    "too many games in a tournament": lambda: {
        by_form(tournament_form(games=10**7), "games"),
        by_serializer(TournamentStartSerializer, entries=["random", "perfect"], games=10**7),
        by_service(games=10**7),
    },
    "a schedule every zero hours": lambda: {
        by_form(timing_form(every=0), "every"),
        by_serializer(TimingSerializer, every=0),
    },
}


@pytest.mark.parametrize("act", ACTS)
def test_form_api_and_frame_refuse_an_act_in_the_same_words(act: str) -> None:
    (words,) = ACTS[act]()
    assert re.fullmatch(r"\w+: [A-Z“].*\.", words), "the field, and a whole sentence"


def refusals() -> Iterator[tuple[str, str]]:
    """Yield the library's refusals of rules, files and prints, with values as "x"."""
    yield from (("errors.py", re.sub(r"\{.*?\}", "X", sentence)) for sentence in SENTENCES.values())
    kinds = {"RuleError", "WeightsError", "PrintingError"}
    for path in sorted((ROOT / "learning").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in kinds:
                parts = getattr(node.args[-1], "values", [node.args[-1]])
                if any(isinstance(part, ast.Constant) for part in parts):
                    yield (
                        path.name,
                        "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in parts),
                    )


def test_rules_and_files_are_refused_in_short_sentences() -> None:
    sentences = list(refusals())
    assert len(sentences) > 60
    for file, text in sentences:
        words = re.sub(r"^\w+: ", "", text) or "X"
        assert re.fullmatch(r"X|[A-Z].*[.X]", words), (file, text)
        assert not re.search(r"\bmust\b|; ", words), (file, text)
        for sentence in re.split(r"(?<=\.) ", words):
            assert len(sentence.split()) <= MOST_WORDS, (file, sentence)


def test_repeated_fields_share_one_sentence() -> None:
    stage = {"opponent": "random", "games": 10, "learns": True}
    single = {"machine": "m", "opponent": "random", "games": 10, "opponent_learns": True}
    assert (
        by_serializer(StageSerializer, **stage).partition(": ")[2]
        == (by_serializer(RunStartSerializer, **single).partition(": ")[2])
    )
    odd = by_serializer(RunStartSerializer, machine="m", opponent="random", games=10, measured=3)
    assert odd == f"measured: {SeedForm.base_fields['measured'].error_messages['step_size']}"
    assert by_serializer(ResetSerializer, swap="x") == "swap: Please say true or false."
    with pytest.raises(FrameError) as refused:
        parse_frame("{")
    assert str(refused.value) == NOT_JSON_TEXT
    empty = SimpleUploadedFile("machine.json", b"")
    assert ImportForm({}, {"file": empty}).errors["file"] == ["This file is empty."]
    assert ImportForm({}, {}).errors["file"] == ["Please choose a file."]


def test_scripts_do_not_reword_refusals_of_the_server() -> None:
    def below(error: type[PlayError]) -> list[type[PlayError]]:
        return [error, *(one for child in error.__subclasses__() for one in below(child))]

    codes = {error.code for error in below(PlayError)} | {"invalid_move", "illegal_move", "too_many_frames"}
    worded = re.compile(rf"\b({'|'.join(sorted(codes))})\"?: *[\"`]")
    for script in (ROOT / "static" / "js").glob("*.js"):
        assert worded.findall(script.read_text()) == [], script.name


def test_illegal_move_is_refused_by_its_text() -> None:
    error = MoveRefusedError(IllegalMoveError("'5' is not a legal move in '....X....'"), "5")
    assert (str(error), error.code) == ("You cannot play 5 here. Choose another move.", "illegal_move")


@pytest.mark.django_db
def test_refusals_by_game_rules_are_whole_sentences(client: Client) -> None:
    learner = house_machines()[Side.FIRST]
    room = client.post("/api/rooms", {"opponent": "random"}, content_type="application/json").json()
    move = {"move": "0", "ply": 0, "seat_token": room["seat_token"]}
    board = {"game": "hexapawn", "board": "ooo---OOO"}
    answers = [
        client.post(f"/api/rooms/{room['code']}/move", move, content_type="application/json"),
        client.post("/api/ai/move", board, content_type="application/json"),
        client.get(f"/api/machines/{learner.slug}/boxes/nothing"),
    ]
    for answer in answers:
        assert answer.status_code in {400, 404}
        assert answer.json()["detail"].endswith("."), answer.json()


def test_refusal_splits_into_field_and_sentence() -> None:
    assert PlayError("games: Please give at least 1.").parts == ("games", "Please give at least 1.")
    assert PlayError("The site is full: try later.").parts == ("", "The site is full: try later.")
