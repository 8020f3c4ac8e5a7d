"""Pages of machines and boxes, their socket, and the admin, without a browser."""

import re
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from learning.models import Box, Change, Lesson, Machine, TrainingRun
from learning.services.machines import machine_create
from learning.services.runs import Stage, training_run_start
from learning.workers.runs import RUNS, Pace, run_chunk
from tests import factories
from tests.beadbox.race import Race
from tests.factories import guest, machine, machine_strength, play_out, trained_machine
from tests.pages import page_json
from tests.sockets import Socket


@pytest.mark.django_db
class TestPages:
    def test_a_machine_shows_every_box_in_order_of_play(self, client: Client) -> None:
        learner = trained_machine(machine(Side.FIRST))
        page = client.get(f"/machines/{learner.pk}")
        packed = page_json(page, "packed")
        assert len(packed["boxes"]) == 304
        moves = [move_number for _, move_number, *_ in packed["boxes"]]
        assert moves == sorted(moves)
        *_, board, slots = packed["boxes"][0]
        assert [packed["pieces"][piece] for piece in board] == [None] * 9
        assert [packed["slots"][slot]["mark"] for slot in slots] == ["A", "B", "E"]
        assert sum(sum(beads) for _, _, _, _, beads, *_ in packed["boxes"]) == page.context["machine"]["beads"]

    def test_a_page_of_ten_thousand_boxes_is_short(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(GAMES, Race.slug, Race())
        learner = trained_machine(machine_create(game=Race.slug, side=Side.SECOND, name="Ten thousand"))
        for address in (f"/machines/{learner.pk}", f"/machines/{learner.pk}/boxes"):
            page = client.get(address, headers={"Accept-Encoding": "gzip"})
            assert len(page_json(client.get(address), "packed")["boxes"]) > 10_000
            assert page["Content-Encoding"] == "gzip"
            assert len(page.content) < 300_000, address

    def test_page_shows_exact_strength_and_last_lessons(self, client: Client) -> None:
        learner = machine(Side.FIRST, "michie-1961")
        page = client.get(f"/machines/{learner.pk}")
        assert page.context["strength"]["random"]["win"] == pytest.approx(0.606828, abs=1e-6)
        assert page.context["strength"]["perfect"] == pytest.approx(
            {"win": 0, "draw": 0.235852, "loss": 0.764148}, abs=1e-6
        )
        assert page.context["recent"] == []
        trained_machine(learner)
        play_out(factories.room("machine", side=Side.SECOND, machine=learner.slug).room.code, guest())
        recent = client.get(f"/machines/{learner.pk}").context["recent"]
        assert [line["result"] in ("win", "draw", "loss") for line in recent] == [True, False]
        assert "Trained 1,000 games" in recent[1]["sentence"]

    def test_a_run_of_many_lessons_is_one_line(self, client: Client) -> None:
        learner = machine()
        stage = Stage("random", 300)
        run = RUNS.claim(training_run_start(machine=learner.slug, stages=[stage], seed=1, enqueue=False).pk)
        play_out(factories.room("machine", machine=learner.slug).room.code, guest())
        while run is not None and run.finished_at is None:
            run = run_chunk(run, Pace(n_games=100))
        assert run is not None
        assert Lesson.objects.filter(machine=learner, run=run).count() == 4, "after 1, 100, 200 and 300 games"
        first, second = client.get(f"/machines/{learner.pk}").context["recent"]
        results = f"{run.n_wins:,} won, {run.n_draws:,} drawn, {run.n_losses:,} lost"
        assert first["sentence"] == f"Trained 300 games: {results}."
        assert second["sentence"].endswith("a match.")

    def test_the_strength_follows_the_beads(self) -> None:
        learner = machine(Side.FIRST, "michie-1961")
        initial_strength = machine_strength(learner)
        assert machine_strength(trained_machine(learner))["random"]["win"] > initial_strength["random"]["win"]

    def test_the_last_bead_drawn_is_marked(self, client: Client) -> None:
        learner = machine()
        assert page_json(client.get(f"/machines/{learner.pk}"), "drawn") is None
        seated = factories.room("machine", machine=learner.slug)
        factories.play(seated, guest(), "5")
        bead = page_json(client.get(f"/machines/{learner.pk}"), "drawn")
        assert bead["position"] == "....X...."

    def test_page_takes_a_fixed_number_of_queries(self, client: Client) -> None:
        first_machine, machine_with_many_boxes = machine(Side.SECOND), machine(Side.SECOND, "apl-notebook")
        counts = []
        for learner in (first_machine, machine_with_many_boxes):
            with CaptureQueriesContext(connection) as queries:
                client.get(f"/machines/{learner.pk}")
            counts.append(len(queries))
        assert counts[0] == counts[1] <= 10, "four of them for the code that repeats the machine"

    def test_a_box_is_found_in_any_orientation(self, client: Client) -> None:
        learner = machine()
        trained_machine(learner)
        play_out(factories.room("machine", machine=learner.slug).room.code, guest())
        change = Change.objects.filter(lesson__kind="match").select_related("box")[0]
        game = learner.game_rules
        for symmetry in game.symmetries:
            turned_position = game.encode(game.transform(game.decode(change.box.position), symmetry))
            page = client.get(f"/machines/{learner.pk}/boxes/{turned_position}")
            assert page.context["box"]["position"] == change.box.position
        history = page.context["history"]
        assert history[0]["url"].startswith("/rooms/")
        assert history[0]["after"] == change.box.beads
        assert history[-1]["cause"].startswith("Trained ")

    @pytest.mark.parametrize(
        "path",
        [
            "/machines/999",
            "/machines/1/boxes/nonsense",
            "/machines/{pk}/boxes/nonsense",
            "/machines/{pk}/boxes/.........",
        ],
    )
    def test_a_missing_address_gets_a_helpful_page(self, client: Client, path: str) -> None:
        learner = machine()
        response = client.get(path.format(pk=learner.pk))
        assert response.status_code == 404
        assert b"Beadbox" in response.content


@pytest.mark.django_db(transaction=True)
async def test_every_bead_is_sent_to_the_page() -> None:
    in_db = database_sync_to_async
    learner = await in_db(machine)()
    seated = await in_db(factories.room)("machine", machine=learner.slug)

    class MachineSocket(Socket):
        def __init__(self) -> None:
            super().__init__(seated.room.code)
            self.scope["path"] = f"/api/machines/{learner.pk}/ws"

    async with MachineSocket() as page:
        await page.expect("joined")
        await in_db(play_out)(seated.room.code, guest())
        frames = []
        while not (frames and frames[-1]["boxes"]):
            frames.append(await page.expect("boxes"))
        assert frames[0]["drawn"]["slot"] is not None
        last_frame = frames[-1]
        assert last_frame["totals"]["games"] == 1
        stored_beads = await in_db(lambda: dict(Box.objects.values_list("position", "beads")))()
        assert all(stored_beads[box["position"]] == box["beads"] for box in last_frame["boxes"])
        await page.frame("move", {"move": "5"})
        assert (await page.expect("error"))["code"] == "unknown_frame"


@pytest.mark.django_db
class TestAdmin:
    @pytest.fixture
    def staff_browser(self, client: Client) -> Client:
        client.force_login(factories.user("staff", is_staff=True, is_superuser=True))
        return client

    @pytest.fixture
    def learner(self) -> Machine:
        learner = trained_machine(machine())
        play_out(factories.room("machine", machine=learner.slug).room.code, guest())
        return learner

    def test_boxes_are_drawn_and_filtered(self, staff_browser: Client, learner: Machine) -> None:
        answer = staff_browser.get("/admin/learning/box/")
        assert answer.content.count(b"<bead-board") == 50
        assert answer.content.count(b"<bead-bars") == 50
        assert len(answer.content) < 130_000, "a layout in every row"
        for query, expected in {
            f"machine__id__exact={learner.pk}": 289,
            "move_number=1": 3,
            "visited=yes": sum(any(box.visits) for box in Box.objects.all()),
            "visited=no": sum(not any(box.visits) for box in Box.objects.all()),
            "q=....X....": 1,
        }.items():
            assert staff_browser.get(f"/admin/learning/box/?{query}").context["cl"].result_count == expected

    def test_all_boxes_of_a_machine_are_listed_with_shared_ones(self, staff_browser: Client, learner: Machine) -> None:
        seated = factories.room("machine", machine=learner.slug, fresh=True)
        play_out(seated.room.code, guest())
        copy = Machine.objects.get(room=seated.room)
        own_box = copy.own_boxes.order_by("ply", "position")[0]
        shared_box = next(box for box in copy.boxes.order_by("ply", "position") if box.pk is None)
        page = staff_browser.get(f"/admin/learning/box/?machine__id__exact={copy.pk}")
        assert page.context["cl"].result_count == 289
        links = re.findall(rb'<th class="field-board"><a href="([^"?]*)', page.content)
        assert len(links) == 50
        for address in (f"/admin/learning/box/{own_box.pk}/change/", shared_box.get_absolute_url()):
            assert address.encode() in links
            assert staff_browser.get(address).status_code == 200
        answer = staff_browser.get(f"/admin/learning/box/?machine__id__exact={copy.pk}&visited=yes")
        assert answer.context["cl"].result_count == copy.own_boxes.count()

    @pytest.mark.parametrize("model", [Box, Lesson, TrainingRun])
    def test_history_is_read_only(self, staff_browser: Client, learner: Machine, model: Any) -> None:
        name = model._meta.model_name
        row = model.objects.all()[0]
        assert staff_browser.get(f"/admin/learning/{name}/").status_code == 200
        assert staff_browser.get(f"/admin/learning/{name}/{row.pk}/change/").status_code == 200
        assert staff_browser.post(f"/admin/learning/{name}/{row.pk}/change/", {"ply": 9}).status_code == 403
        assert staff_browser.post(f"/admin/learning/{name}/{row.pk}/delete/", {"post": "yes"}).status_code == 403
        assert staff_browser.get(f"/admin/learning/{name}/add/").status_code == 403

    def test_machine_is_renamed_or_frozen_but_keeps_its_rule(self, staff_browser: Client, learner: Machine) -> None:
        form = {"name": "Renamed", "description": "", "is_public": "on", "rule": "{}", "side": "0", "n_games": "0"}
        assert staff_browser.post(f"/admin/learning/machine/{learner.pk}/change/", form).status_code == 302
        machine_after = Machine.objects.get(pk=learner.pk)
        assert (machine_after.name, machine_after.learns) == ("Renamed", False)
        assert (machine_after.rule, machine_after.side, machine_after.n_games) == (learner.rule, learner.side, 1001)

    def test_matches_show_their_plies_and_cannot_be_changed(self, staff_browser: Client, learner: Machine) -> None:
        assert staff_browser.get("/admin/games/match/").status_code == 200
        match_id = Lesson.objects.get(kind="match").match_id
        page = staff_browser.get(f"/admin/games/match/{match_id}/change/")
        assert "admin_board.js" in page.content.decode(), "the script that draws its boards"
        assert page.content.count(b"<bead-board") > 4
        assert staff_browser.post(f"/admin/games/match/{match_id}/change/", {"winner": 1}).status_code == 403
        assert staff_browser.get("/admin/games/room/").status_code == 200

    def test_the_box_list_takes_a_fixed_number_of_queries(self, staff_browser: Client, learner: Machine) -> None:
        counts = []
        for query in ("move_number=1", "move_number=2"):
            with CaptureQueriesContext(connection) as queries:
                staff_browser.get(f"/admin/learning/box/?{query}")
            counts.append(len(queries))
        assert counts[0] == counts[1]

    def test_other_visitors_are_redirected_to_the_log_in(self, client: Client, learner: Machine) -> None:
        client.force_login(factories.user("somebody"))
        assert client.get("/admin/learning/box/").status_code == 302
