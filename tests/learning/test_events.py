"""News for a machine's page: merged in any order, they give the same state."""

import itertools

from learning.events import news_merge
from learning.states import MachineNews


def news(lesson: int, *positions: str, drawn: str = "") -> MachineNews:
    """Return the news of a lesson, or of a bead drawn before it."""
    return {
        "boxes": [{"position": one, "beads": [lesson], "draws": [lesson], "lesson": lesson} for one in positions],
        "drawn": {"position": drawn, "slot": 0} if drawn else None,
        "totals": None if drawn else {"games": lesson},
        "lesson": lesson,
    }


def test_the_later_lesson_wins_in_any_order() -> None:
    messages = [news(1, "a", "b"), news(2, "b", "c"), news(3, "c"), news(2, drawn="d")]
    for order in itertools.permutations(messages):
        first, *others = order
        for other in others:
            first = news_merge(first, other)
        assert {box["position"]: box["beads"] for box in first["boxes"]} == {"a": [1], "b": [2], "c": [3]}
        assert (first["totals"], first["lesson"]) == ({"games": 3}, 3)
        assert first["drawn"] == {"position": "d", "slot": 0}


def test_the_bead_drawn_last_is_marked() -> None:
    assert news_merge(news(1, drawn="a"), news(1, drawn="b"))["drawn"] == {"position": "b", "slot": 0}
