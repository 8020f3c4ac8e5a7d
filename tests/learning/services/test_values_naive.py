"""The site's Q-learner equals a Q-learner of five lines: in whole matches, under added rules, and in both seats."""

import re
from typing import Any

import pytest

from beadbox.engines.romgon.evaluation import evaluate
from beadbox.rules.registry import GAMES
from beadbox.rules.romgon.moves import after
from beadbox.rules.romgon.rules import Position, Romgon
from games.live.play import match_step
from games.live.rooms import room_create
from games.models import Match
from learning.models import Decision
from learning.services.machines import machine_create
from tests.factories import guest


def documented_key(game: Romgon, position: Position, move: str) -> str:
    """Return the key as documented in docs/learning.md, from displayed text."""
    parts = re.fullmatch(r"(\d-\d)(?:>(\d-\d))?~?(@\d)?", move)
    assert parts is not None
    origin, target, turn = parts.groups()
    items = [
        f"{cell.id}:{piece[0].lower()}{'w' if piece[0].isupper() else 'b'}{'F' if '~' in piece else 'U'}"
        + "".join(re.findall(r"@\d", piece))
        for cell, piece in zip(game.presentation.layout.cells, game.pieces(position), strict=True)
        if piece
    ]
    return f"{origin}-{target or origin}{turn or ''}#{'|'.join(items)}"


@pytest.mark.django_db
@pytest.mark.parametrize("slug", ["romgon", "romgon-flip-turn-shape-shuttle"])
@pytest.mark.sampled(2)
def test_two_matches_against_itself_to_the_digit(slug: str) -> None:
    game: Any = GAMES[slug]
    machine = machine_create(game=slug, side=None, name="Q")
    table: dict[str, float] = {}
    visits: dict[str, int] = {}
    epsilon = 0.2
    for _ in range(2):
        code = room_create(person=guest(), game=slug, first=machine.slug, second=machine.slug).room.code
        while match_step(code=code, person=guest(), max_plies=100)["status"] == "playing":
            pass
        match = Match.objects.get(room__code=code)
        position, decisions = game.initial_position(), []
        for ply in match.plies.order_by("number"):
            keys = [documented_key(game, position, game.format_move(move)) for move in game.legal_moves(position)]
            totals = [
                table.get(one, 0.0) + sum(evaluate(after(position.board, move), position.side, game.options)) / 100
                for one, move in zip(keys, game.legal_moves(position), strict=True)
            ]
            decision = Decision.objects.get(seat__match=match, ply=ply.number)
            assert (decision.key, decision.epsilon) == (keys[decision.chosen], epsilon)
            assert decision.values == [table.get(one, 0.0) for one in keys]
            assert decision.explored or decision.chosen == totals.index(max(totals))
            decisions.append((keys[decision.chosen], keys))
            position = game.apply(position, game.parse_move(ply.move))
        for side in (0, 1):
            own_decisions = decisions[side::2]
            final_reward = 0.0 if match.winner is None else 1.0 if match.winner == side else -1.0
            for i, (chosen_key, _) in enumerate(own_decisions):
                best_next_value = (
                    max(table.get(one, 0.0) for one in own_decisions[i + 1][1]) if i + 1 < len(own_decisions) else 0.0
                )
                reward = 0.01 if i + 1 < len(own_decisions) else final_reward
                old_value = table.get(chosen_key, 0.0)
                table[chosen_key] = old_value + 0.1 * (reward + 0.9 * best_next_value - old_value)
                visits[chosen_key] = visits.get(chosen_key, 0) + 1
            epsilon = max(0.05, 0.995 * epsilon)
        machine.refresh_from_db()
        assert machine.epsilon == epsilon
        assert dict(machine.values.values_list("key", "value")) == table
        assert dict(machine.values.values_list("key", "n_visits")) == visits
