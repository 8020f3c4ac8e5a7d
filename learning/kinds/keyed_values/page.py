"""Pages of machines that keep a table of values, with one number for each key.

A position has a page with the value of each action.
"""

from __future__ import annotations

from typing import ClassVar

from beadbox.rules.errors import InvalidPositionError
from learning.exceptions import BoxNotFoundError
from learning.kinds.keyed_values.insight import Explainer, candidate_view
from learning.kinds.page import KindPage, Page
from learning.models import Machine, Value


class KeyedPage(KindPage):
    """The pages of a machine that keeps its memory in rows of ``Value``."""

    explainer: ClassVar[Explainer | None] = None
    """Computes the values on the page of a position; ``None`` if the kind has no page of a position."""

    def content_phrase(self, machine: Machine) -> str:
        return f"{machine.values.count():,} values"

    def position_page(self, machine: Machine, text: str) -> Page:
        """Return the page of a position: every action with its value and the next position."""
        game, explainer = machine.game_rules, self.explainer
        if explainer is None:
            return super().position_page(machine, text)
        try:
            position = game.decode(text)
        except InvalidPositionError as error:
            raise BoxNotFoundError(error.sentence) from None
        outcome = game.outcome(position)
        candidates, best = ((), ()) if outcome is not None else explainer.evaluate_actions(machine, position)
        visits = dict(
            machine.values.filter(key__in=[candidate.key for candidate in candidates]).values_list("key", "n_visits")
        )
        order = sorted(range(len(candidates)), key=lambda index: -candidates[index].total)
        view = {
            "position": text,
            "role": game.presentation.layout.roles[game.side_to_move(position)],
            "over": None if outcome is None else game.presentation.reasons[outcome.termination],
            "epsilon": machine.epsilon,
            "has_outlook": explainer.has_outlook,
            "moves": [
                {
                    **candidate_view(game, position, candidates[index]),
                    "visits": visits.get(candidates[index].key, 0),
                    "best": index in best,
                    "next": game.encode(game.apply(position, candidates[index].move)),
                }
                for index in order
            ],
        }
        return Page("learning/values.html", view)

    def entry_position(self, entry: Value) -> str | None:
        """Return the text of the position to which a value belongs.

        ``None``, the default, says that keys of this kind name no position.
        """
        return None
