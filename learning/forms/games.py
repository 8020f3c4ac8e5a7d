"""The choice of a game by its recorded facts."""

from __future__ import annotations

from math import inf

from django import forms
from django.http import QueryDict

from beadbox.learners.facts import facts_of
from beadbox.rules.game import AnyGame
from beadbox.rules.registry import GAMES
from beadbox.strength.facts import SIDE_NAMES
from learning.selectors.game_facts import game_minutes, minutes_words
from learning.services.personal_machines import personal_machine_side

Range = tuple[str, float, float]
"""The label of a choice, and the smallest and the largest number to which it applies."""
CHOICES: dict[str, dict[str, Range]] = {
    "boxes": {
        "few": ("Up to 40: for one lesson", 1, 40),
        "some": ("41 to 400", 41, 400),
        "many": ("More than 400", 401, inf),
        "none": ("No list of boxes", 0, 0),
    },
    "minutes": {
        "short": ("Under a minute", 0, 0),
        "middle": ("1 to 5 minutes", 1, 5),
        "long": ("More than 5 minutes", 6, inf),
    },
    "circles": {"no": ("No, it always ends", 0, 0), "yes": ("Yes", 1, 1)},
}


def n_boxes(game: AnyGame) -> int:
    """Return the number of boxes of a visitor's personal machine; 0 if the boxes of the game cannot be listed."""
    boxes = facts_of(game)["boxes"].get(SIDE_NAMES[personal_machine_side(game)])
    return 0 if boxes is None else boxes["boxes"]


def game_numbers(game: AnyGame) -> dict[str, float]:
    """Return the numbers that the choices compare."""
    return {
        "boxes": n_boxes(game),
        "minutes": game_minutes(facts_of(game)["random_play"]),
        "circles": int(not game.always_ends),
    }


def game_tags(game: AnyGame) -> list[str]:
    """Return the facts on a game's card, in a few words each."""
    size = [f"{n_boxes(game):,} matchboxes"] if n_boxes(game) else []
    circles = [] if game.always_ends else ["can go round in circles"]
    return [*size, minutes_words(facts_of(game)["random_play"]), *circles]


def usual_games() -> list[AnyGame]:
    """Return the usual game of each family."""
    return [game for game in GAMES.values() if game.slug == game.family]


class GameChoiceForm(forms.Form):
    """The size, the length and the kind of game that a visitor looks for. An unknown choice counts as any."""

    boxes = forms.ChoiceField(label="Matchboxes", required=False)
    minutes = forms.ChoiceField(label="Time for a game", required=False)
    circles = forms.ChoiceField(label="Can it go round in circles?", required=False)

    def __init__(self, query: QueryDict) -> None:
        known = {name: str(query[name]) for name, choices in CHOICES.items() if query.get(name) in choices}
        super().__init__(known)
        self.chosen_ranges = [(name, *CHOICES[name][value][1:]) for name, value in known.items()]
        for name, choices in CHOICES.items():
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField), "the field is declared above"
            field.choices = [("", "Any"), *((slug, words) for slug, (words, *_) in choices.items())]

    def games(self) -> list[AnyGame]:
        """Return the games that fit, those with few boxes first."""
        numbers = {game: game_numbers(game) for game in usual_games()}
        found = [
            game
            for game, numbers_of_game in numbers.items()
            if all(least <= numbers_of_game[name] <= most for name, least, most in self.chosen_ranges)
        ]
        return sorted(found, key=lambda game: n_boxes(game) or inf)
