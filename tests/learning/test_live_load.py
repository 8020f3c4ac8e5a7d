"""The load generator of live play (``tests/bench/live_load.py``) detects lost and doubled moves."""

from typing import Any

import pytest

from games.models import Match, Ply
from learning.models import Box, Machine
from tests.bench.live_load import totals, wrong_rows
from tests.bench.live_site import statements
from tests.factories import guest, house_machines, play_out, room

DATABASE_LOG = """\
2026-11-22 10:00:07 UTC [7] LOG:  duration: 0.250 ms  statement: SELECT "a"."id" FROM "games_room" WHERE x FOR UPDATE
2026-11-22 10:00:07 UTC [7] LOG:  duration: 0.500 ms  execute <unnamed>: UPDATE "games_room" SET "version" = 2
2026-11-22 10:00:07 UTC [7] LOG:  duration: 1.000 ms  statement:
\tSELECT
\tFROM learning_box
2026-11-22 10:00:07 UTC [8] LOG:  duration: 0.750 ms  statement: UPDATE "games_room" SET "version" = 3
2026-11-22 10:00:07 UTC [8] LOG:  duration: 2.000 ms  statement: COMMIT
2026-11-22 10:00:07 UTC [8] LOG:  duration: 2.000 ms  statement: SELECT /* watch */ count(*),
2026-11-22 10:00:07 UTC [8] LOG:  checkpoint starting: time
"""


@pytest.fixture
def recorded_answers() -> dict[str, Any]:
    """Return the answers to the players of a match by room code, as the load generator records them."""
    house_machines()
    seated = room("menace")
    play_out(seated.room.code, guest())
    moves = [ply.move for ply in Ply.objects.filter(side=seated.side)]
    return {seated.room.code: [[1], {"1": moves}]}


@pytest.mark.django_db
class TestStoredMoves:
    def test_stored_moves_equal_the_answers(self, recorded_answers: dict[str, Any]) -> None:
        assert wrong_rows(recorded_answers, {}) == []

    def test_a_missing_move_is_reported(self, recorded_answers: dict[str, Any]) -> None:
        Ply.objects.filter(side=0).latest("number").delete()
        assert len(wrong_rows(recorded_answers, {})) == 1

    def test_a_move_without_an_answer_is_reported(self, recorded_answers: dict[str, Any]) -> None:
        next(iter(recorded_answers.values()))[1]["1"].pop()
        assert len(wrong_rows(recorded_answers, {})) == 1

    def test_an_unfinished_match_is_reported(self, recorded_answers: dict[str, Any]) -> None:
        Match.objects.update(status="playing", finished_at=None, termination="", winner=None)
        assert "ended" in wrong_rows(recorded_answers, {})[0]

    def test_a_game_counted_twice_is_reported(self, recorded_answers: dict[str, Any]) -> None:
        totals_before = totals()
        assert wrong_rows(recorded_answers, totals_before) == []
        learner = Machine.objects.get(n_games=1)
        Machine.objects.filter(pk=learner.pk).update(n_games=2, n_wins=learner.n_wins + 1)
        assert [learner.slug in one for one in wrong_rows(recorded_answers, totals_before)] == [True]

    def test_a_bead_without_a_cause_is_reported(self, recorded_answers: dict[str, Any]) -> None:
        box = Box.objects.filter(visits__0__gt=0).first() or Box.objects.all()[0]
        box.beads[0] += 1
        box.save(update_fields=["beads"])
        assert "do not add up" in wrong_rows(recorded_answers, {})[0]


def test_statements_are_counted_from_the_log_by_kind() -> None:
    assert statements(DATABASE_LOG) == {
        "SELECT games_room FOR UPDATE": (1, 0.25),
        "UPDATE games_room": (2, 1.25),
        "SELECT": (1, 1.0),
        "COMMIT": (1, 2.0),
    }
