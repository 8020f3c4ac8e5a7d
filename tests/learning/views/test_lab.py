"""Pages of the lab without a browser: make, change, train, compare, look into boxes; and permissions."""

import csv
import re
from dataclasses import fields
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from beadbox.learners.boxes.presets import PRESETS, presets_for
from beadbox.learners.boxes.rule import BoxRule, WhenEmpty
from beadbox.learners.presets import ALL_PRESETS
from beadbox.learners.q_learning.presets import Q_PRESETS
from beadbox.learners.q_learning.rule import QRule
from beadbox.learners.registry import RULES
from beadbox.learners.rule import Rule
from beadbox.learners.table_learner.presets import TABLE_PRESETS
from beadbox.learners.value_learner.presets import VALUE_PRESETS
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from learning.kinds.boxes.look import box_view
from learning.kinds.boxes.memory import ledger_errors
from learning.kinds.boxes.training import box_visits
from learning.kinds.registry import KINDS, kind_of_rule
from learning.models import JobStatus, Machine, Tournament, TrainingRun
from learning.selectors import runs as selectors_runs
from learning.services.runs import Stage, training_run_start
from learning.services.tournaments import MAX_ENTRIES
from tests import factories
from tests.factories import NC, machine, machine_strength, trained_machine, user
from tests.pages import page_json

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(client: Client) -> Any:
    account = user("owner")
    client.force_login(account)
    return account


@pytest.fixture
def own_machine(owner: Any) -> Machine:
    return machine(Side.FIRST, owner=owner, name="Mine")


def machine_form(**changes: Any) -> dict[str, Any]:
    """Return the form of a new machine; unticked boxes are not sent."""
    form = {"game": NC, "side": "0", "name": "Mendel", "is_public": "on", "preset": "scroggs"}
    return {name: value for name, value in {**form, **form_fields(BoxRule()), **changes}.items() if value is not None}


def value_machine_form(**changes: Any) -> dict[str, Any]:
    """Return the form of a new machine that keeps values, with the fields of its rule."""
    form = {"game": "romgon", "name": "Quentin", "is_public": "on", "preset": "romgon-q", "own_rule": "on"}
    return {**form, **form_fields(QRule()), **changes}


def form_fields(rule: Rule) -> dict[str, Any]:
    """Return the form fields of a rule, as a browser sends them."""
    values = kind_of_rule(rule).page.rule_to_form(rule).items()
    return {name: "on" if value is True else value for name, value in values if value not in (None, False)}


class TestCreation:
    def test_every_field_of_the_rule_has_words_and_a_place(self) -> None:
        described_fields = [name for kind in KINDS.values() for name in kind.page.text.words]
        assert sorted(described_fields) == sorted(field.name for rule in RULES.values() for field in fields(rule))
        for kind, rule in RULES.items():
            grouped_fields = [name for group in KINDS[kind].page.text.groups for name in group.fields]
            assert sorted(grouped_fields) == sorted(field.name for field in fields(rule))

    def test_the_page_shows_every_field_with_its_term(self, client: Client, owner: Any) -> None:
        page = client.get("/machines/new").content.decode()
        for field in (field for rule in RULES.values() for field in fields(rule)):
            assert f'name="{field.name}"' in page
            assert f">{field.name}</code>" in page
            assert f'aria-describedby="id_{field.name}_helptext"' in page

    def test_form_begins_with_a_preset_and_knows_all_others(self, client: Client, owner: Any) -> None:
        page = client.get("/machines/new")
        initial_values = {name: field.initial for name, field in page.context["form"].fields.items()}
        for preset in (PRESETS["michie-1961"], Q_PRESETS["romgon-q"]):
            assert kind_of_rule(preset.rule).page.rule_to_form(preset.rule).items() <= initial_values.items()
        assert initial_values["preset"] == "michie-1961"
        rules = page_json(page, "rules")
        assert rules == {
            slug: kind_of_rule(preset.rule).page.rule_to_form(preset.rule) for slug, preset in ALL_PRESETS.items()
        }

    @pytest.mark.parametrize("preset", presets_for(GAMES[NC]))
    def test_machine_is_made_from_a_preset(self, client: Client, owner: Any, preset: str) -> None:
        answer = client.post("/machines/new", machine_form(preset=preset))
        new_machine = Machine.objects.get()
        assert answer.headers["Location"] == new_machine.get_absolute_url()
        assert (new_machine.owner, new_machine.name, new_machine.preset, new_machine.is_public) == (
            owner,
            "Mendel",
            preset,
            True,
        )
        assert new_machine.box_rule == PRESETS[preset].rule

    def test_machine_is_made_with_its_own_rule(self, client: Client, owner: Any) -> None:
        form = machine_form(
            own_rule="on",
            initial="6 3, 1",
            loss="-2",
            cap="50",
            when_empty="uniform",
            merge_symmetric_moves=None,
            side="1",
            is_public=None,
        )
        client.post("/machines/new", form)
        new_machine = Machine.objects.get()
        rule = BoxRule(initial=(6, 3, 1), loss=-2, cap=50, when_empty=WhenEmpty.UNIFORM, merge_symmetric_moves=False)
        assert (new_machine.box_rule, new_machine.preset, new_machine.side, new_machine.is_public) == (
            rule,
            "",
            1,
            False,
        )

    @pytest.mark.parametrize("preset", PRESETS)
    def test_the_form_of_a_preset_gives_the_same_rule_back(self, client: Client, owner: Any, preset: str) -> None:
        rule = dict.fromkeys((field.name for field in fields(BoxRule)), None) | form_fields(PRESETS[preset].rule)
        client.post("/machines/new", machine_form(own_rule="on", **rule))
        assert Machine.objects.get().box_rule == PRESETS[preset].rule

    @pytest.mark.parametrize(
        ("field", "wrong_value"),
        [("initial", "a few"), ("initial", ""), ("floor", "9"), ("cap", "0"), ("final_win", "sole"), ("win", "much")],
    )
    def test_a_refused_setting_is_shown_at_its_field(
        self, client: Client, owner: Any, field: str, wrong_value: str
    ) -> None:
        page = client.post("/machines/new", machine_form(own_rule="on", **{field: wrong_value}))
        refused_field = (
            "cap" if field == "final_win" else "initial" if (field, wrong_value) == ("floor", "9") else field
        )
        assert page.status_code == 200
        assert list(page.context["form"].errors) == [refused_field]
        assert not Machine.objects.exists()

    def test_values_with_a_rule_of_its_own(self, client: Client, owner: Any) -> None:
        rule = QRule(0.25, 1.0, 0.75, 0.9999999, 0.125, -0.5)
        answer = client.post("/machines/new", value_machine_form(**form_fields(rule)))
        new_machine = Machine.objects.get()
        assert (new_machine.rule, new_machine.preset, new_machine.side, new_machine.epsilon) == (rule, "", None, 0.75)
        page = client.get(answer.headers["Location"]).content.decode()
        for sentence in (
            "a chance of 0.75 at first. Each game multiplies the chance by 0.9999999. It never falls below 0.125.",
            "Each move before brings −0.5.",
            "Each value moves 0.25 of the way to its target.",
            "The target is what the move brings, and 1 of the best value at its next turn.",
        ):
            assert sentence in page

    @pytest.mark.parametrize("preset", Q_PRESETS)
    def test_the_form_of_a_preset_of_values_gives_the_same_rule_back(
        self, client: Client, owner: Any, preset: str
    ) -> None:
        """Without JavaScript, the fields of boxes and of a side are sent too."""
        client.post("/machines/new", machine_form() | value_machine_form(**form_fields(Q_PRESETS[preset].rule)))
        new_machine = Machine.objects.get()
        assert (new_machine.rule, new_machine.preset) == (Q_PRESETS[preset].rule, "")

    @pytest.mark.parametrize(
        ("field", "wrong_value", "reason"),
        [
            ("learning_rate", "0", "A machine with the rate 0 learns nothing."),
            ("discount", "1.5", "Please give a number from 0 to 1, not 1.5."),
            ("step_reward", "-2", "Please give a number from -1 to 1, not -2.0."),
            ("epsilon", "", "Please fill this in."),
            ("epsilon_decay", "nan", "Please give a number."),
            ("epsilon_floor", "0.5", "Please give at most 0.2, not 0.5."),
        ],
    )
    def test_a_refused_setting_of_values_is_shown_at_its_field(
        self, client: Client, owner: Any, field: str, wrong_value: str, reason: str
    ) -> None:
        page = client.post("/machines/new", value_machine_form(**{field: wrong_value}))
        assert page.context["form"].errors == {field: [reason]}
        assert f'id="id_{field}_error"' in page.content.decode()
        assert not Machine.objects.exists()

    def test_the_fields_of_another_kind_of_rule_cannot_be_wrong(self, client: Client, owner: Any) -> None:
        client.post("/machines/new", value_machine_form(win="much", initial="", side="9"))
        client.post("/machines/new", machine_form(own_rule="on", epsilon="much", discount="7"))
        learner, menace = Machine.objects.order_by("pk")
        assert (learner.rule, menace.rule) == (QRule(), BoxRule())

    def test_presets_are_grouped_by_the_games_that_they_play(self, client: Client, owner: Any) -> None:
        page = client.get("/machines/new")
        boxes, values, weights, tables = page.context["form"].kinds()
        small_games = [game.name for slug, game in GAMES.items() if game.family == slug and game.supports_boxes]
        assert (boxes["games"], values["games"]) == (small_games, ["Romgon"])
        assert (weights["games"], tables["games"]) == (["Romgon"], small_games)
        assert {preset.slug for preset in boxes["presets"]} == set(PRESETS)
        assert {preset.slug for preset in values["presets"]} == set(Q_PRESETS)
        assert {preset.slug for preset in weights["presets"]} == set(VALUE_PRESETS)
        assert {preset.slug for preset in tables["presets"]} == set(TABLE_PRESETS)
        for group in (boxes, values, weights, tables):
            assert f'data-kind="{group["kind"]}"' in page.content.decode()
        assert page.context["kinds"] == {
            game.slug: "boxes" if game.supports_boxes else "q-learning" for game in GAMES.values()
        }
        labels = [label for _, label in page.context["form"].fields["game"].choices]
        assert len(labels) == len(set(labels))

    def test_game_is_chosen_by_family_and_board_or_added_rules(self, client: Client, owner: Any) -> None:
        page = client.get("/machines/new")
        families = page.context["form"].families()
        usual = [slug for slug, game in GAMES.items() if game.family == slug]
        assert [family["game"].slug for family in families] == usual
        sizes = {one["game"].slug: (len(one["boards"]), len(one["additions"])) for one in families}
        special = {"hexapawn": (6, 0), "romgon": (0, 4), "three-mens-morris": (8, 0), "achi": (0, 1)}
        assert sizes == {slug: special.get(slug, (1, 0)) for slug in usual}
        assert [one["slug"] for one in families[1]["boards"] if one["checked"]] == ["hexapawn"]
        assert page.content.decode().count('name="game"') == len(usual)
        # Without JavaScript, the choices of other families are sent too.
        for game_fields, game in (
            ({"game": "hexapawn", "board": "hexapawn-4x4", "added": ["flip"]}, "hexapawn-4x4"),
            ({"game": "hexapawn"}, "hexapawn"),
            ({"game": NC, "board": "hexapawn-4x4", "added": ["turn", "flip"]}, NC),
            ({"game": "romgon", "added": ["turn", "flip", "flip"], "preset": "romgon-q"}, "romgon-flip-turn"),
        ):
            client.post("/machines/new", machine_form(**game_fields))
            assert Machine.objects.latest("pk").game == game
        n_machines = Machine.objects.count()
        for field, wrong_value in (("game", "chess"), ("board", "hexapawn-9x9"), ("added", "castling")):
            page = client.post("/machines/new", machine_form(**{field: wrong_value}))
            assert field in page.context["form"].errors
        page = client.post("/machines/new", machine_form(game="romgon", added=["flip"], name=""))
        assert [one["slug"] for one in page.context["form"].families()[2]["additions"] if one["checked"]] == ["flip"]
        assert Machine.objects.count() == n_machines

    def test_five_presets_come_first_for_each_game(self, client: Client, owner: Any) -> None:
        form = client.get("/machines/new").context["form"]
        for game, n_first in ((NC, 5), ("hexapawn", 5), ("romgon", 5), ("achi", 6)):
            kinds = [kind for kind in form.kinds() if game in kind["plays"]]
            offered = [one for kind in kinds for one in kind["first"] if not one["plays"] or game in one["plays"]]
            assert len(offered) == n_first
            assert all(len(kind["first"]) + len(kind["others"]) == len(kind["presets"]) for kind in kinds)
        assert "first" in form.kinds()[0]
        page = client.post("/machines/new", machine_form(name="", preset="scroggs")).content.decode()
        assert '<details id="all-presets" open>' in page

    def test_unfit_preset_is_refused_with_the_fitting_ones(self, client: Client, owner: Any) -> None:
        """Without JavaScript the form sends every field: the side is ignored, but the preset has to fit."""
        for changes, fitting_preset in (
            ({"game": "romgon"}, "Q-learning, curious"),
            ({"preset": "romgon-q"}, "Michie 1961"),
        ):
            page = client.post("/machines/new", machine_form(**changes))
            assert list(page.context["form"].errors) == ["preset"]
            assert (
                f"Choose one of these: {'Q-learning' if 'game' in changes else 'Michie 1961'}" in page.content.decode()
            )
            assert fitting_preset in page.context["form"].errors["preset"][0]
        assert not Machine.objects.exists()
        client.post("/machines/new", machine_form(game="romgon-flip", preset="romgon-q-curious", side="1"))
        new_machine = Machine.objects.get()
        assert (new_machine.game, new_machine.side, new_machine.preset, new_machine.epsilon) == (
            "romgon-flip",
            None,
            "romgon-q-curious",
            1.0,
        )

    def test_the_quota_is_respected(self, client: Client, owner: Any, settings: Any) -> None:
        settings.MACHINES_PER_ACCOUNT = 1
        client.post("/machines/new", machine_form())
        page = client.post("/machines/new", machine_form())
        assert b"may have 1 machines" in page.content
        assert Machine.objects.count() == 1


class TestChange:
    def test_rename_describe_hide_and_freeze(self, client: Client, own_machine: Machine) -> None:
        client.post(f"/machines/{own_machine.pk}/edit", {"name": "Other", "description": "Kind."})
        own_machine.refresh_from_db()
        assert (own_machine.name, own_machine.description, own_machine.is_public, own_machine.learns) == (
            "Other",
            "Kind.",
            False,
            False,
        )

    def test_buttons_of_the_page(self, client: Client, own_machine: Machine) -> None:
        client.post(f"/machines/{own_machine.pk}/set", {"learns": "off"})
        own_machine.refresh_from_db()
        assert (own_machine.learns, own_machine.is_public) == (False, True)
        client.post(f"/machines/{own_machine.pk}/set", {"is_public": "off"})
        own_machine.refresh_from_db()
        assert (own_machine.learns, own_machine.is_public) == (False, False)

    def test_a_copy_belongs_to_its_maker(self, client: Client, owner: Any) -> None:
        house = trained_machine(machine(Side.FIRST))
        client.post(f"/machines/{house.pk}/clone", {"name": "My own"})
        copy = Machine.objects.get(owner=owner)
        assert (copy.name, copy.copied_from) == ("My own", house)
        assert ledger_errors() == []

    def test_reset_is_confirmed(self, client: Client, own_machine: Machine) -> None:
        initial_beads = list(own_machine.boxes.order_by("position").values_list("beads", flat=True))
        trained_machine(own_machine)
        assert b"1,000 games" in client.get(f"/machines/{own_machine.pk}/reset").content
        assert list(own_machine.boxes.order_by("position").values_list("beads", flat=True)) != initial_beads
        client.post(f"/machines/{own_machine.pk}/reset")
        assert list(own_machine.boxes.order_by("position").values_list("beads", flat=True)) == initial_beads
        assert ledger_errors() == []

    def test_deletion_is_confirmed(self, client: Client, own_machine: Machine) -> None:
        trained_machine(own_machine)
        page = client.get(f"/machines/{own_machine.pk}/delete").content
        assert b"304 boxes" in page
        assert b"1 training run " in page
        assert Machine.objects.exists()
        client.post(f"/machines/{own_machine.pk}/delete")
        assert not Machine.objects.exists()


class TestTraining:
    def stage_form(self, *opponents: tuple[str, int], **extra: Any) -> dict[str, Any]:
        form: dict[str, Any] = {"stage-TOTAL_FORMS": len(opponents), "stage-INITIAL_FORMS": 0, "seed": 7, **extra}
        for number, (opponent, games) in enumerate(opponents):
            form |= {f"stage-{number}-opponent": opponent, f"stage-{number}-games": games}
        return form

    def test_training_by_a_curriculum(self, client: Client, own_machine: Machine) -> None:
        answer = client.post(f"/machines/{own_machine.pk}/train", self.stage_form(("random", 500), ("perfect", 200)))
        run = TrainingRun.objects.get()
        assert answer.headers["Location"] == f"/runs/{run.pk}"
        assert (run.machine, run.n_games, run.seed, run.started_by) == (own_machine, 700, 7, own_machine.owner)
        assert [(s.opponent, s.n_games) for s in run.stages.all()] == [("random", 500), ("perfect", 200)]

    def test_training_against_a_learning_machine(self, client: Client, own_machine: Machine, owner: Any) -> None:
        other = machine(Side.SECOND, owner=owner)
        form = self.stage_form((str(other.pk), 100), **{"stage-0-learns": "on"})
        assert client.post(f"/machines/{own_machine.pk}/train", form).status_code == 302
        stage = TrainingRun.objects.get().stages.get()
        assert (stage.opponent_machine, stage.opponent_learns) == (other, True)

    def test_machines_of_others_teach_but_do_not_learn(self, client: Client, own_machine: Machine) -> None:
        other = machine(Side.SECOND, owner=user("other"))
        form = self.stage_form((str(other.pk), 100), **{"stage-0-learns": "on"})
        assert client.post(f"/machines/{own_machine.pk}/train", form).status_code == 403
        assert not TrainingRun.objects.exists()
        assert (
            client.post(f"/machines/{own_machine.pk}/train", self.stage_form((str(other.pk), 100))).status_code == 302
        )

    @pytest.mark.parametrize(("opponent", "games"), [("random", 0), ("random", 10**10), ("nobody", 5), ("999", 5)])
    def test_impossible_trainings_are_refused(
        self, client: Client, own_machine: Machine, opponent: str, games: int
    ) -> None:
        assert client.post(f"/machines/{own_machine.pk}/train", self.stage_form((opponent, games))).status_code == 200
        assert not TrainingRun.objects.exists()

    def test_a_second_stage_without_opponent_is_refused(self, client: Client, own_machine: Machine) -> None:
        form = self.stage_form(("random", 5), ("", 10_000))
        assert "Please fill this in." in client.post(f"/machines/{own_machine.pk}/train", form).content.decode()
        assert not TrainingRun.objects.exists()

    def test_a_frozen_machine_is_not_trained(self, client: Client, own_machine: Machine) -> None:
        Machine.objects.update(learns=False)
        client.post(f"/machines/{own_machine.pk}/train", self.stage_form(("random", 5)))
        assert not TrainingRun.objects.exists()
        page = client.get(f"/machines/{own_machine.pk}/train").content
        assert b"frozen" in page
        assert b">Seed</label>" in page, "no label has a colon"

    def test_the_page_of_a_run_is_complete_after_a_reload(self, client: Client, own_machine: Machine) -> None:
        trained_machine(own_machine)
        run = own_machine.runs.get()
        page = client.get(f"/runs/{run.pk}")
        assert page_json(page, "run") == selectors_runs.run_view(run)
        assert page_json(page, "curve-points") == selectors_runs.run_curve(run)

    def test_cancel(self, client: Client, own_machine: Machine) -> None:
        run = training_run_start(machine=own_machine.slug, stages=[Stage("random", 5)], seed=1, enqueue=False)
        client.post(f"/runs/{run.pk}/cancel")
        run.refresh_from_db()
        assert run.cancel_requested
        assert run.status == JobStatus.CANCELLED, "a run that has not begun ends at once"

    def test_the_curve_as_a_table(self, client: Client, own_machine: Machine) -> None:
        trained_machine(own_machine)
        run = own_machine.runs.get()
        rows = list(csv.DictReader(client.get(f"/runs/{run.pk}/curve.csv").content.decode("utf-8-sig").splitlines()))
        curve = selectors_runs.run_curve(run)
        assert len(rows) == len(curve)
        for row, point in zip(rows, curve, strict=True):
            assert int(row["games"]) == point["games"]
            for against, expected in point["strength"].items():
                assert {key: float(row[f"{against}_{key}"]) for key in ("win", "draw", "loss")} == expected


class TestCompare:
    def test_runs_of_a_machine_are_joined_to_a_curve(self, client: Client, own_machine: Machine) -> None:
        trained_machine(own_machine, 1000)
        trained_machine(own_machine, 500, seed=2)
        other = trained_machine(machine(Side.SECOND, name="=cmd()"), 300)
        page = client.get(f"/machines/compare?machine={own_machine.pk}&machine={other.pk}&machine={own_machine.pk}")
        first, second = page_json(page, "curves")
        games = [point["games"] for point in first["points"]]
        assert (first["id"], second["id"]) == (own_machine.pk, other.pk)
        assert games == sorted(games)
        assert games[-1] == 1500
        assert first["points"][-1]["strength"] == machine_strength(own_machine)
        assert set(page.context["against"]) == {"random", "win_block", "perfect", "worst"}, (
            "only opponents with a curve"
        )
        rows = client.get(f"/machines/compare.csv?machine={other.pk}").content.decode("utf-8-sig").splitlines()
        assert rows[1].startswith(f"{other.pk},'=cmd(),0,")

    def test_comparison_takes_a_fixed_number_of_queries(self, client: Client, own_machine: Machine) -> None:
        trained_machine(own_machine, 100)
        counts = []
        for n_runs in (1, 4):
            for seed in range(n_runs):
                trained_machine(own_machine, 100, seed=10 * n_runs + seed)
            with CaptureQueriesContext(connection) as queries:
                client.get(f"/machines/compare?machine={own_machine.pk}")
            counts.append(len(queries))
        assert counts[0] == counts[1]


class TestViews:
    def test_the_gallery_has_the_data_of_every_box(self, client: Client) -> None:
        learner = trained_machine(machine(Side.FIRST))
        packed = page_json(client.get(f"/machines/{learner.pk}/boxes"), "packed")
        wall = [box_view(learner.cabinet, box) for box in learner.boxes.order_by("ply", "position")]
        visits = box_visits(learner)
        assert len(packed["boxes"]) == len(wall) == 304
        for row, box in zip(packed["boxes"], wall, strict=True):
            position, move_number, ply, start, beads, draws, board, slots, visit = row
            assert (position, move_number, ply) == (box["position"], box["move_number"], box["ply"])
            assert (beads, draws, len(start)) == (box["beads"], box["draws"], len(beads))
            assert [packed["pieces"][piece] for piece in board] == box["board"]
            assert [packed["slots"][slot] for slot in slots] == box["slots"]
            assert visit == visits[position].chance

    def test_the_time_machine_goes_from_the_start_to_now(self, client: Client) -> None:
        learner = machine(Side.FIRST)
        beads_at_start = dict(learner.boxes.values_list("position", "beads"))
        trained_machine(learner, 300)
        beads_between = dict(learner.boxes.values_list("position", "beads"))
        trained_machine(learner, 300, seed=2)
        beads_now = dict(learner.boxes.values_list("position", "beads"))
        answers = [client.get(f"/machines/{learner.pk}/boxes-at/{n}").json() for n in range(7)]
        # Each training has a step after 1, 100 and 300 games.
        assert [one["games"] for one in answers] == [0, 1, 100, 300, 301, 400, 600]
        assert [answers[step]["beads"] for step in (0, 3, 6)] == [beads_at_start, beads_between, beads_now]
        assert beads_at_start != answers[1]["beads"] != beads_between != beads_now
        assert answers[0]["lesson"] is None
        assert "Trained 200 games" in answers[3]["lesson"]["sentence"]

    def test_why_page_in_every_orientation(self, client: Client) -> None:
        learner = trained_machine(machine(Side.FIRST))
        game = learner.game_rules
        position = game.decode("X...O....")
        for symmetry in game.symmetries:
            text = game.encode(game.transform(position, symmetry))
            answer = client.get(
                f"/machines/{learner.pk}/why", {"position": text}, headers={"accept": "application/json"}
            )
            view = answer.json()
            assert sum(move["probability"] for move in view["why"]["moves"]) == pytest.approx(1)
            assert [move["next"][int(move["move"]) - 1] for move in view["moves"]] == ["X"] * 7
        page = client.get(f"/machines/{learner.pk}/why?position=X...O....")
        assert page_json(page, "view")["why"]["box"]["position"] == game.encode(game.canonical(position))

    @pytest.mark.parametrize(
        ("text", "end_sentence", "n_moves"),
        [("X........", None, 8), ("XXXOO....", "Crosses won: three in a row.", 0)],
    )
    def test_why_page_of_positions_without_a_choice(
        self, client: Client, text: str, end_sentence: str | None, n_moves: int
    ) -> None:
        learner = machine(Side.FIRST)
        view = page_json(client.get(f"/machines/{learner.pk}/why?position={text}"), "view")
        assert view["why"] is None
        assert len(view["moves"]) == n_moves
        assert view["over"] == end_sentence

    def test_an_invalid_position_gets_a_helpful_page(self, client: Client) -> None:
        learner = machine(Side.FIRST)
        page = client.get(f"/machines/{learner.pk}/why?position=banana")
        assert page.status_code == 404
        assert b"banana" in page.content
        assert b'id="board"' in page.content


READ_PAGES = [
    "/machines/{machine}",
    "/machines/{machine}/boxes",
    "/machines/{machine}/boxes-at/0",
    "/machines/{machine}/boxes/.........",
    "/machines/{machine}/why",
    "/machines/compare?machine={machine}",
    "/machines/compare.csv?machine={machine}",
    "/machines/compare.json?machine={machine}",
    "/runs/{run}",
    "/runs/{run}/curve.csv",
    "/runs/{run}/run.json",
]
OWNER_PAGES = [f"/machines/{{machine}}/{page}" for page in ("edit", "train", "reset", "delete")]
WRITE_PAGES = [*OWNER_PAGES, "/machines/{machine}/set", "/runs/{run}/cancel"]


class TestAccess:
    """The same addresses for the owner, another user, a guest and the staff."""

    @pytest.fixture
    def row_ids(self) -> dict[str, int]:
        learner = trained_machine(machine(Side.FIRST, owner=user("owner"), is_public=False), 50)
        return {"machine": learner.pk, "run": learner.runs.get().pk}

    def statuses(self, client: Client, row_ids: dict[str, int], pages: list[str], method: str = "get") -> set[int]:
        return {getattr(client, method)(page.format(**row_ids)).status_code for page in pages}

    @pytest.mark.parametrize("name", ["owner", "staff"])
    def test_access_of_owner_and_staff(self, client: Client, row_ids: dict[str, int], name: str) -> None:
        accounts = type(user("any")).objects
        client.force_login(accounts.filter(username=name).first() or user(name, is_staff=True))
        assert self.statuses(client, row_ids, READ_PAGES + OWNER_PAGES) == {200}

    def test_access_of_another_user_to_private_machines(self, client: Client, row_ids: dict[str, int]) -> None:
        client.force_login(user("other"))
        assert self.statuses(client, row_ids, READ_PAGES + OWNER_PAGES) == {404}
        assert self.statuses(client, row_ids, [*WRITE_PAGES, "/machines/{machine}/clone"], "post") == {404}

    def test_access_of_another_user_to_public_machines(self, client: Client, row_ids: dict[str, int]) -> None:
        Machine.objects.update(is_public=True)
        client.force_login(user("other"))
        assert self.statuses(client, row_ids, READ_PAGES) == {200}
        assert self.statuses(client, row_ids, OWNER_PAGES) == {403}
        assert self.statuses(client, row_ids, WRITE_PAGES, "post") == {403}
        assert Machine.objects.get().learns

    def test_access_of_a_guest(self, client: Client, row_ids: dict[str, int]) -> None:
        assert self.statuses(client, row_ids, READ_PAGES) == {404}
        Machine.objects.update(is_public=True)
        assert self.statuses(client, row_ids, READ_PAGES) == {200}
        for page in [*WRITE_PAGES, "/machines/{machine}/clone", "/machines/new"]:
            answer = client.post(page.format(**row_ids))
            assert answer.headers["Location"].startswith("/login?next=")
        assert Machine.objects.count() == 1

    def test_the_list_shows_visible_machines_only(self, client: Client, row_ids: dict[str, int]) -> None:
        copy = factories.room("machine", side=Side.FIRST, machine=machine().slug, fresh=True)
        assert copy.room.fresh_machines.exists()
        assert [row["name"] for row in client.get("/machines").context["machines"]] == ["MENACE"]
        client.force_login(Machine.objects.get(pk=row_ids["machine"]).owner)
        context = client.get("/machines").context
        assert len([*context["own"], *context["machines"]]) == 2


class TestRefusals:
    """A refused form says where and why in plain words, and keeps its input."""

    STAGE = {"stage-TOTAL_FORMS": 1, "stage-INITIAL_FORMS": 0, "stage-0-opponent": "perfect", "stage-0-games": "1234"}

    def test_a_run(self, client: Client, own_machine: Machine) -> None:
        other = machine(Side.SECOND, owner=user("other"), name="Not mine")
        form = {**self.STAGE, "stage-0-opponent": str(other.pk), "stage-0-learns": "on", "seed": "77"}
        page = client.post(f"/machines/{own_machine.pk}/train", form)
        assert page.status_code == 403
        assert page.context["problem"].startswith("Not mine is not yours.")
        assert b'value="1234"' in page.content
        assert b'value="77"' in page.content
        page = client.post(f"/machines/{own_machine.pk}/train", {**form, "stage-0-games": "0"})
        assert b"Please give at least 1." in page.content

    def test_a_schedule(self, client: Client, own_machine: Machine) -> None:
        form = {**self.STAGE, "kind": "crontab", "crontab": "every day at noon"}
        page = client.post(f"/machines/{own_machine.pk}/schedule", form)
        assert page.status_code == 400
        assert list(page.context["timing"].errors) == ["crontab"]
        for html in (b'value="1234"', b'value="every day at noon"', b'aria-invalid="true"'):
            assert html in page.content
        client.post(f"/machines/{own_machine.pk}/schedule", {**form, "crontab": "0 12 * * *"})
        schedule = own_machine.schedules.get()
        page = client.post(schedule.get_absolute_url(), {**form, "crontab": "0 12 * *", "stage-INITIAL_FORMS": 1})
        assert page.status_code == 400
        schedule.task.refresh_from_db()
        assert schedule.task.crontab.hour == "12"

    def test_a_tournament(self, client: Client, own_machine: Machine) -> None:
        form = {"machines": [own_machine.pk], "format": "round-robin", "games": 10, "rounds": 3}
        page = client.post("/tournaments/new", form)
        assert b"A tournament needs 2 to 32 players. Please choose more." in page.content
        answer = client.post("/tournaments/new", {**form, "opponents": ["random", "perfect"]})
        assert answer.status_code == 302, "a round-robin tournament ignores the number of rounds"

    def test_tournament_machines_are_searched_filtered_and_ticked(
        self, client: Client, own_machine: Machine, django_assert_max_num_queries: Any
    ) -> None:
        other = machine(Side.SECOND, "scroggs", name="Émile")
        menaces = [machine(Side.SECOND, "michie-refill", name=f"Refill {n}") for n in range(3)]

        def list_machines(**fields: Any) -> tuple[list[str], list[str], str]:
            """Send the form; return the ids of the machines on the page, the ids of the ticked ones, and the page."""
            page = client.post(
                "/tournaments/new", {"format": "swiss", "games": "7", "seed": "5", **fields}
            ).content.decode()
            boxes = re.findall(r'<input type="checkbox" name="machines" value="(\d+)"([^>]*)>', page)
            return [pk for pk, _ in boxes], [pk for pk, rest in boxes if "checked" in rest], page

        first_page = client.get("/tournaments/new").content.decode()
        assert re.findall(r'name="machines" value="(\d+)"', first_page)[0] == str(
            own_machine.pk
        )  # own machines come first
        assert re.search(r'name="seed" value="\d+"', first_page), "the page shows a seed before the start"
        listed_ids, ticked_ids, page = list_machines(
            **{"list-search": "emile", "show": "on", "machines": [own_machine.pk], "opponents": ["random"]}
        )
        assert (listed_ids, ticked_ids) == (
            [str(own_machine.pk), str(other.pk)],
            [str(own_machine.pk)],
        )  # ticked machines stay
        for pattern in (
            'value="swiss"[^>]* checked',
            'name="games" value="7"',
            'name="seed" value="5"',
            'value="random"[^>]* checked',
        ):
            assert re.search(pattern, page), pattern
        assert list_machines(**{"list-mine": "on", "show": "on"})[0] == [str(own_machine.pk)]
        listed_ids, ticked_ids, page = list_machines(
            **{"list-rule": "michie-refill", "tick": "on", "machines": [other.pk]}
        )
        assert set(listed_ids) == set(ticked_ids) == {str(one.pk) for one in (other, *menaces)}
        assert "4 machines are chosen." in page
        assert "No machine fits." in list_machines(**{"list-search": "nobody of this name", "show": "on"})[2]
        assert not Tournament.objects.exists()
        with django_assert_max_num_queries(12):
            list_machines(**{"list-rule": "michie-refill", "tick": "on"})
        for n in range(MAX_ENTRIES):
            machine(Side.SECOND, "scroggs", name=f"Many {n}")
        assert len(list_machines(**{"list-search": "many", "tick": "on"})[1]) == MAX_ENTRIES
        hidden_machine = machine(Side.SECOND, owner=user("hidden"), is_public=False, name="Hidden")
        assert str(hidden_machine.pk) not in list_machines(show="on", machines=[hidden_machine.pk, "x", "9" * 30])[0]

    def test_a_machine_without_opponent_gets_a_hint_whom_to_add(self, client: Client, own_machine: Machine) -> None:
        twin = machine(own_machine.cabinet.side, name="Twin")
        form = {"machines": [own_machine.pk, twin.pk], "format": "round-robin", "games": 10}
        page = unescape(client.post("/tournaments/new", form).content.decode())
        assert f"{own_machine.name} has no opponent. Add a player that can play " in page

    def test_a_machine_names_each_field(self, client: Client, owner: Any) -> None:
        page = client.post("/machines/new", machine_form(name="", own_rule="on", win="much"))
        for link in (b'<a href="#id_name">Name</a>', b'<a href="#id_win">After a win</a>'):
            assert link in page.content

    def test_a_page_of_another_account(self, client: Client, owner: Any) -> None:
        page = client.get(f"/machines/{machine(owner=user('other')).pk}/edit")
        assert page.status_code == 403
        assert b"MENACE is not yours." in page.content
        assert b"log in first" not in page.content


def test_pages_show_the_chance_of_opening_each_box(client: Client) -> None:
    learner = trained_machine(machine(Side.FIRST))
    box = learner.boxes.filter(move_number=2)[0]
    visits = {slug: box_visits(learner, slug)[box.position] for slug in ("random", "win-block", "perfect")}
    assert list(dict(client.get(box.get_absolute_url()).context["box"]["visits"]).values()) == list(visits.values())
    address = f"/machines/{learner.pk}/why?position={box.position}"
    assert client.get(address, headers={"Accept": "application/json"}).json()["why"]["visit"] == [
        visits["random"].chance
    ]
