"""Machines that keep values as files: exact round trips, strict entries, and refusal in place of boxes."""

import json
import math
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from beadbox.engines.romgon.entry_keys import entry_key, entry_problem, entry_read
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.exchange.document import ImportOptions
from beadbox.learners.exchange.file_text import MAX_BYTES
from beadbox.learners.exchange.values import MAX_VALUES, ValueData, ValuesData, dump_values
from beadbox.learners.formats import FORMATS, machine_read
from beadbox.learners.q_learning.rule import QRule
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.rules.romgon.rules import Romgon
from games.live.rooms import room_create
from learning.exceptions import MachineFileError
from learning.kinds.keyed_values.memory import value_errors
from learning.kinds.machines import machine_export
from learning.models import Machine, Value
from learning.services.machines import machine_create, machine_import
from learning.services.runs import Stage, training_run_start
from learning.workers.runs import RUNS, run_execute
from tests.factories import guest, machine, play_out, user

pytestmark = pytest.mark.usefixtures("small_samples")

ROMGON, ROMGON_WITH_TURNS = GAMES["romgon"], GAMES["romgon-flip-turn"]
assert isinstance(ROMGON, Romgon)
assert isinstance(ROMGON_WITH_TURNS, Romgon)
START = ROMGON.initial_position()
KEYS = sorted(entry_key(START.board, move) for move in ROMGON.legal_moves(START))
FOREIGN_FORMATS = [slug for slug in FORMATS if slug != "native"]


def learner(**fields: Any) -> Machine:
    return machine_create(**{"game": "romgon", "side": None, "name": "Ünï Q", "description": "two\nlines", **fields})


def train(trainee: Machine, games: int = 3) -> Machine:
    run = training_run_start(machine=trainee.slug, stages=[Stage("easy", games)], seed=7, enqueue=False)
    claimed_run = RUNS.claim(run.pk)
    assert claimed_run is not None
    run_execute(claimed_run)
    return Machine.objects.get(pk=trainee.pk)


def import_text(text: str, **options: Any) -> Machine:
    return machine_import(content=text.encode(), **{"user": None, **options}).machine


def stored_values(trainee: Machine) -> dict[str, tuple[float, int]]:
    return {key: (value, visits) for key, value, visits in trainee.values.values_list("key", "value", "n_visits")}


def file_fields(**changes: Any) -> dict[str, Any]:
    """Return the JSON of a small file with changed fields."""
    values = tuple(ValueData(key, index / 7, index) for index, key in enumerate(KEYS[:3]))
    data = ValuesData(game=ROMGON, rule=QRule(), epsilon=0.1, name="Q", values=values, wins=2, losses=1)
    fields: dict[str, Any] = json.loads(dump_values(data))
    return {name: value for name, value in {**fields, **changes}.items() if value is not None}


def read_fields(fields: Any) -> Any:
    return machine_read(json.dumps(fields).encode(), ImportOptions())


def file_with_entry(**changes: Any) -> dict[str, Any]:
    return file_fields(values=[{"key": KEYS[0], "value": 0.5, "visits": 1, **changes}])


class TestKeys:
    @pytest.mark.parametrize("game", [ROMGON, ROMGON_WITH_TURNS], ids=lambda game: game.slug)
    def test_keys_survive_a_round_trip(self, game: Romgon) -> None:
        rng, position, n_keys = RandomSource(3), game.initial_position(), 0
        while not game.is_terminal(position):
            moves = game.legal_moves(position)
            for move in moves:
                key = entry_key(position.board, move)
                assert entry_read(key) == (position.board, move)
                assert entry_problem(position.board, move, game.options) == ""
                n_keys += 1
            position = game.apply(position, moves[rng.below(len(moves))])
        assert n_keys > 200

    @settings(max_examples=60)
    @given(st.one_of(st.text(), st.text("0123456789-#|:@swtrchbUF"), st.sampled_from(KEYS).map(lambda key: key[:-1])))
    def test_invalid_keys_are_refused(self, text: str) -> None:
        with pytest.raises(ValueError):  # noqa: PT011  # whatever it says
            entry_read(text)


class TestNumbers:
    @given(st.floats(-1e6, 1e6), st.integers(0, 1 << 60))
    def test_values_survive_a_round_trip_bit_for_bit(self, value: float, visits: int) -> None:
        data = ValuesData(ROMGON, QRule(), 0.2, "Q", (ValueData(KEYS[0], value, visits),))
        (copied_value,) = read_fields(json.loads(dump_values(data))).values
        assert (copied_value.value.hex(), copied_value.visits) == (value.hex(), visits)


class TestEntries:
    def test_optional_fields(self) -> None:
        required_fields = {name: file_fields()[name] for name in ("format", "version", "game", "rule", "values")}
        data = read_fields(required_fields)
        assert (data.name, data.epsilon, data.learns, data.wins) == ("Imported: Romgon", 0.2, True, 0)
        assert read_fields({**required_fields, "side": None, "values": []}).values == ()

    def test_a_file_has_a_limit_of_values(self) -> None:
        # The longest possible key: all six pieces that can turn have turned, and the action turns too.
        longest = max(map(len, KEYS)) + 7 * len("@5")
        line = json.dumps({"key": "x" * longest, "value": -1.2345678901234567e-105, "visits": 1 << 40})
        assert MAX_VALUES * (len(line) + 4) < MAX_BYTES


@pytest.mark.django_db
class TestImport:
    @pytest.mark.parametrize("game", [pytest.param("romgon", marks=pytest.mark.soak), "romgon-flip-turn"])
    def test_export_and_import_give_an_identical_machine(self, game: str) -> None:
        original = train(learner(game=game, preset="romgon-q-curious", learns=True))
        text = machine_export(original).text
        copy = import_text(text)
        assert machine_export(copy).text == text
        names = ("name", "description", "game", "side", "preset", "rule", "learns", "epsilon", "n_games", "n_wins")
        for name in names:
            assert getattr(copy, name) == getattr(original, name), name
        assert stored_values(copy) == stored_values(original)
        assert len(stored_values(copy)) > 20

    def test_ledger_begins_with_the_values_of_the_file(self) -> None:
        """Original and copy learn the same from then on."""
        original = train(learner())
        copy = import_text(machine_export(original).text)
        assert all(one.start == one.value for one in copy.values.all())
        assert value_errors() == []
        original, copy = (train(one, 2) for one in (original, copy))
        assert machine_export(copy).text == machine_export(original).text
        player = guest()
        seated = room_create(person=player, game="romgon", opponent="machine", machine=copy.slug, side=Side.FIRST)
        play_out(seated.room.code, player)
        assert value_errors() == []

    def test_an_untrained_machine_survives_a_round_trip(self) -> None:
        text = machine_export(learner()).text
        assert machine_export(import_text(text)).text == text

    def test_an_import_may_choose_a_name(self) -> None:
        assert import_text(machine_export(learner()).text, name="Another").name == "Another"

    @pytest.mark.parametrize("form", FOREIGN_FORMATS)
    def test_formats_for_boxes_refuse_values_both_ways(self, form: str) -> None:
        with pytest.raises(MachineFileError, match=r"^format: .* holds boxes, and Ünï Q keeps values"):
            machine_export(learner(), form)
        text = machine_export(machine(), form).text
        with pytest.raises(MachineFileError, match="game: Machines that play Romgon keep values"):
            import_text(text, game="romgon")

    def test_a_file_of_boxes_for_romgon_is_refused(self) -> None:
        fields = json.loads(machine_export(machine()).text)
        with pytest.raises(MachineFileError, match="rule: A machine of this kind cannot play Romgon"):
            import_text(json.dumps({**fields, "game": "romgon"}))
        table = f"position,move,beads\n{ROMGON.encode(START)},4-7>4-6,3\n"
        with pytest.raises(MachineFileError, match="No game has the position"):
            import_text(table)

    def test_too_many_values_for_a_file_are_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        original = train(learner(), 1)
        n_values = original.values.count()
        monkeypatch.setattr("learning.kinds.keyed_values.files.MAX_VALUES", n_values)
        assert len(json.loads(machine_export(original).text)["values"]) == n_values
        monkeypatch.setattr("learning.kinds.keyed_values.files.MAX_VALUES", n_values - 1)
        with pytest.raises(MachineFileError, match=f"has {n_values} values. A file holds at most {n_values - 1}"):
            machine_export(original)

    def test_a_refused_import_stores_nothing(self) -> None:
        with pytest.raises(MachineFileError):
            import_text(json.dumps(file_with_entry(value="much")))
        assert not Machine.objects.exists()

    def test_export_and_import_by_api_and_page(self, client: Client, django_assert_num_queries: Any) -> None:
        original = train(learner())
        anna = user("anna")
        client.force_login(anna)
        with django_assert_num_queries(4):
            export = client.get(f"/api/machines/{original.pk}/export")
        assert export.status_code == 200
        answer = client.post("/api/machines/import", export.content, content_type="application/json")
        assert answer.status_code == 201, answer.content
        copy = Machine.objects.get(pk=answer.json()["id"])
        assert (copy.owner, stored_values(copy)) == (anna, stored_values(original))
        refusal = client.get(f"/api/machines/{original.pk}/export?format=csv")
        assert (refusal.status_code, refusal.json()["code"]) == (400, "machine_file")
        page = client.get(original.get_absolute_url()).content.decode()
        assert f'href="/api/machines/{original.pk}/export' in page
        Value.objects.bulk_create(
            Value(machine=original, key=f"0-0-1-1#{n}", start=1, value=1) for n in range(MAX_VALUES)
        )
        Machine.objects.filter(pk=original.pk).update(n_values=F("n_values") + MAX_VALUES)
        page = client.get(original.get_absolute_url()).content.decode()
        assert f'href="/api/machines/{original.pk}/export' not in page
        assert "a file holds at most 20,000" in page
        refusal_of_visits = client.post(
            "/api/machines/import", json.dumps(file_with_entry(visits=-1)), content_type="application/json"
        )
        assert (refusal_of_visits.status_code, "values[0].visits" in refusal_of_visits.json()["detail"]) == (400, True)

    def test_export_and_import_by_commands(self, tmp_path: Any, capsys: Any) -> None:
        original, file = train(learner()), tmp_path / "q.json"
        call_command("export_machine", original.slug, out=file)
        call_command("import_machine", str(file), name="Back")
        assert f"{original.values.count()} values" in capsys.readouterr().out
        assert stored_values(Machine.objects.get(name="Back")) == stored_values(original)
        with pytest.raises(CommandError, match="keeps values"):
            call_command("export_machine", original.slug, format="csv")

    def test_the_commands_take_any_size_on_request(self, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        original, file = train(learner(), 1), tmp_path / "q.json"
        for module_path in (
            "learning.kinds.keyed_values.files.MAX_VALUES",
            "beadbox.learners.exchange.values.MAX_VALUES",
        ):
            monkeypatch.setattr(module_path, 5)
        for module_path in ("beadbox.learners.exchange.file_text", "learning.management.commands.import_machine"):
            monkeypatch.setattr(f"{module_path}.MAX_BYTES", 400)
        with pytest.raises(CommandError, match="A file holds at most 5"):
            call_command("export_machine", original.slug, out=file)
        call_command("export_machine", original.slug, out=file, any_size=True)
        with pytest.raises(CommandError, match="It may have at most 400"):
            call_command("import_machine", str(file))
        call_command("import_machine", str(file), name="Back", any_size=True)
        assert stored_values(Machine.objects.get(name="Back")) == stored_values(original)


def test_epsilon_is_exact_however_often_it_has_decayed() -> None:
    rule, epsilon = QRule(), 0.2
    for _ in range(100):
        epsilon = rule.decayed(epsilon)
    data = read_fields(json.loads(dump_values(ValuesData(ROMGON, rule, epsilon, "Q", ()))))
    assert math.isclose(data.epsilon, epsilon, rel_tol=0, abs_tol=0)
