"""The page of a game's facts, its JSON file, and the choice of a game by its facts."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from beadbox.learners import facts as facts_module
from beadbox.learners.facts import PROOFS, facts_of
from beadbox.rules.registry import GAMES
from learning.forms.games import CHOICES, GameChoiceForm, usual_games
from learning.selectors.game_facts import game_facts_view, result_words

pytestmark = pytest.mark.django_db


def text_of_page(client: Client, address: str) -> str:
    """Return the text of a page without its tags."""
    return " ".join(unescape(re.sub(r"<script.*?</script>|<[^>]*>", " ", client.get(address).content.decode())).split())


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.slug)
def test_page_shows_each_recorded_number(client: Client, game) -> None:
    facts, page = facts_of(game), text_of_page(client, f"/play/{game.slug}/facts")
    if facts["why_unlisted"]:
        assert f"{game.full_name} {facts['why_unlisted']}" in page
        return
    for count in (facts["positions"], facts["classes"]):
        assert f"{count['all']:,}; in {count['not_over']:,} the game goes on" in page
    for boxes in facts["boxes"].values():
        assert f"{boxes['boxes']:,} boxes with {boxes['beads']:,} beads" in page
    assert f"the result is {result_words(game, facts['perfect_play'])}." in page
    for proof in PROOFS.values():
        assert "winners" in proof or "record" in proof or proof.partition("::")[2] in page


def test_page_of_noughts_and_crosses_names_its_sources(client: Client) -> None:
    page = text_of_page(client, "/play/noughts-and-crosses/facts")
    assert re.search(r"D\. Michie.*theirs 287 ours 304 another way to count", page)
    assert re.search(r"M\. Scroggs.*theirs 304 ours 304 the same", page)
    assert "differs" not in page, "no source counts another number by the same rule"


def test_page_of_hexapawn_has_the_table_of_winners(client: Client) -> None:
    table = client.get("/play/hexapawn-5x4/facts").context["facts"]["winners"]
    assert [rows for rows, _ in table["rows"]] == [3, 4, 5, 6]
    assert table["rows"][1][1] == [*["black pawns"] * 3, "white pawns", *["black pawns"] * 2, "", ""]
    assert client.get("/play/notakto/facts").context["facts"]["winners"] is None


def test_best_first_moves_in_words(client: Client) -> None:
    assert "Best first moves centre" in text_of_page(client, "/play/notakto/facts")
    assert "Best first moves None, because every first move loses" in text_of_page(client, "/play/hexapawn/facts")
    assert "Best first moves Every first move is as good" in text_of_page(client, "/play/noughts-and-crosses/facts")


def test_result_without_an_end_says_so() -> None:
    game = GAMES["notakto"]
    for winner, phrase in ((None, "a draw"), ("second", "a win for player B")):
        result = {"winner": winner, "endless": True, "plies": None}
        assert result_words(game, result) == f"{phrase}, because the game never ends"
        assert result_words(game, result | {"endless": False, "plies": 1}).startswith(phrase)


@pytest.mark.parametrize("slug", ["notakto", "romgon", "hexapawn"])
def test_file_has_the_same_facts(client: Client, slug: str) -> None:
    answer = client.get(f"/play/{slug}/facts.json")
    assert answer["Content-Disposition"] == f'attachment; filename="facts-{slug}.json"'
    file = answer.json()
    assert {name: file[name] for name in facts_of(GAMES[slug])} == facts_of(GAMES[slug])
    assert file["proofs"] == PROOFS
    assert [(one["number"], one["ours"]) for one in file["published"]] == ([(24, 19)] if slug == "hexapawn" else [])


@pytest.mark.parametrize("address", ["/play/notackto/facts", "/play/notackto/facts.json"])
def test_unknown_game_is_refused_with_the_nearest(client: Client, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 404
    assert b"Did you mean notakto?" in answer.content


def test_no_request_solves_a_game(client: Client, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries) -> None:
    monkeypatch.delattr(facts_module, "facts_make")
    for address in ("/play/hexapawn-4x4/facts", "/play/hexapawn-4x4/facts.json", "/play"):
        with django_assert_num_queries(0):
            assert client.get(address).status_code == 200


def test_choice_of_all_games_begins_with_few_boxes(client: Client) -> None:
    page = client.get("/play")
    slugs = [game["slug"] for game in page.context["games"]]
    assert sorted(slugs) == sorted(game.slug for game in usual_games())
    sizes = [facts_of(GAMES[slug])["boxes"] for slug in slugs]
    min_boxes = [min(one["boxes"] for one in boxes.values()) if boxes else 10**9 for boxes in sizes]
    assert min_boxes[0] == min(min_boxes)
    assert not sizes[-1], "games without a list of boxes come last"


@pytest.mark.parametrize("name", CHOICES)
def test_choices_of_a_field_part_the_games(client: Client, name: str) -> None:
    games_by_choice = [client.get(f"/play?{name}={one}").context["games"] for one in CHOICES[name]]
    assert sorted(game["slug"] for games in games_by_choice for game in games) == sorted(
        game.slug for game in usual_games()
    )


def test_choices_work_together_and_unknown_ones_count_as_any(client: Client) -> None:
    page = client.get("/play?boxes=few&minutes=short&circles=no&colour=red")
    assert {"ladder", "hexapawn", "notakto"} <= {game["slug"] for game in page.context["games"]}
    assert "noughts-and-crosses" not in {game["slug"] for game in page.context["games"]}
    assert b'value="few" selected' in page.content
    assert len(client.get("/play?boxes=huge").context["games"]) == len(usual_games())
    empty_page = client.get("/play?boxes=none&minutes=short")
    assert empty_page.context["games"] == []
    assert b"No game fits all of this." in empty_page.content


def test_game_pages_link_to_the_facts(client: Client) -> None:
    for address in ("/", "/play", "/play/notakto", "/learn/notakto"):
        assert b'href="/play/notakto/facts"' in client.get(address).content, address
    assert b'href="/play"' in client.get("/").content


def test_view_says_nothing_that_is_not_recorded() -> None:
    assert game_facts_view(GAMES["romgon"])["first_moves"] == []
    assert game_facts_view(GAMES["romgon"])["result"] is None
    assert GameChoiceForm({}).chosen_ranges == []
