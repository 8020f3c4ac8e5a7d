"""Tables from pages suit spreadsheets: they begin with a byte order mark, and no cell is read as a formula."""

import csv
import io

import pytest
from django.test import Client

from beadbox.rules.outcome import Side
from beadbox.seeds import MAX_SEED
from learning.kinds.machines import machine_export
from learning.models import Machine
from learning.services.experiments import experiment_request
from learning.services.machines import machine_create, machine_import
from learning.services.tournaments import tournament_start
from learning.workers.pairings import tournament_play
from tests.factories import guest, house_machines, machine, trained_machine

pytestmark = pytest.mark.django_db
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def test_csv_of_pages_has_a_byte_order_mark_and_api_csv_none(client: Client) -> None:
    learner = trained_machine(machine(name="Schüler"), games=100)
    experiment = experiment_request(person=guest(), experiment="gardner")
    tournament = tournament_start(user=None, entries=[learner.slug, "random"], games=10, enqueue=False)
    pages = [
        f"/machines/{learner.pk}/boxes.csv",
        f"/machines/compare.csv?machine={learner.pk}",
        f"/runs/{learner.runs.get().pk}/curve.csv",
        f"/experiments/runs/{experiment.pk}/result.csv",
        f"/tournaments/{tournament.pk}/standings.csv",
        f"/tournaments/{tournament.pk}/pairings.csv",
    ]
    for page in pages:
        answer = client.get(page)
        assert (answer.status_code, answer["Content-Type"]) == (200, "text/csv; charset=utf-8"), page
        assert answer.content.startswith(BYTE_ORDER_MARK), page
        assert answer.content.count(BYTE_ORDER_MARK) == 1, page
    table = client.get(f"/api/machines/{learner.pk}/export?format=csv")
    assert table.content.decode() == machine_export(learner, "csv").text
    assert table.content.startswith(b"position,")


def test_json_of_pages_equals_the_answers_of_the_api(client: Client) -> None:
    learner = trained_machine(machine(name="Schüler"), games=100, seed=MAX_SEED)
    run = learner.runs.get()
    tournament = tournament_start(user=None, entries=[learner.slug, "random"], games=10, seed=MAX_SEED, enqueue=False)
    experiment = experiment_request(person=guest(), experiment="gardner", seed=MAX_SEED)
    for page, api_path in (
        (f"/runs/{run.pk}/run.json", f"/api/training-runs/{run.pk}"),
        (f"/tournaments/{tournament.pk}/tournament.json", f"/api/tournaments/{tournament.pk}"),
        (f"/experiments/runs/{experiment.pk}/result.json", f"/api/experiment-runs/{experiment.pk}"),
    ):
        answer = client.get(page)
        assert answer["Content-Type"] == "application/json", page
        assert answer["Content-Disposition"].startswith("attachment; filename="), page
        assert answer.json() == client.get(api_path).json(), page
        assert answer.json()["seed"] == str(MAX_SEED)  # text, since a JSON reader may round the number
    for page_with_link, link in (
        (f"/runs/{run.pk}", f"/runs/{run.pk}/run.json"),
        (f"/machines/compare?machine={learner.pk}", f"/machines/compare.json?machine={learner.pk}"),
        (tournament.get_absolute_url(), f"/tournaments/{tournament.pk}/tournament.json"),
    ):
        assert f'href="{link}" download' in client.get(page_with_link).content.decode()
    machines_json = client.get(f"/machines/compare.json?machine={learner.pk}").json()["machines"]
    assert [(one["id"], one["slug"], one["name"], one["side"]) for one in machines_json] == [
        (learner.pk, learner.slug, "Schüler", Side.SECOND)
    ]
    curve = client.get(f"/api/training-runs/{run.pk}").json()["curve"]
    assert [point["strength"] for point in machines_json[0]["curve"]] == [point["strength"] for point in curve]
    for missing_path in ("/runs/0/run.json", "/tournaments/0/tournament.json", "/experiments/runs/0/result.json"):
        assert client.get(missing_path).status_code == 404


def test_tables_of_a_tournament_equal_its_page(client: Client) -> None:
    learner = trained_machine(machine(Side.FIRST, name="=Mendel"), games=100)
    cup = tournament_start(user=None, entries=[learner.slug, "random", "perfect"], games=10, seed=3, enqueue=False)
    tournament_play(cup.pk)
    view = client.get(f"/api/tournaments/{cup.pk}").json()
    names = {entry["number"]: entry["name"].replace("=", "'=") for entry in view["entries"]}

    def rows(table: str) -> list[dict[str, str]]:
        return list(
            csv.DictReader(io.StringIO(client.get(f"/tournaments/{cup.pk}/{table}.csv").content.decode("utf-8-sig")))
        )

    standings = rows("standings")
    assert [row["name"] for row in standings] == [names[row["entry"]] for row in view["standings"]]
    for row, line in zip(standings, view["standings"], strict=True):
        assert (int(row["place"]), int(row["games"]), float(row["points"])) == (
            line["place"],
            line["games"],
            line["points"],
        )
    own_row = next(row for row in standings if row["name"] == "'=Mendel")
    assert (own_row["machine"], own_row["side"], own_row["opponent"]) == (str(learner.pk), "0", "")
    pairings = rows("pairings")
    assert [(row["first"], row["second"]) for row in pairings] == [
        (names[one["first"]], names[one["second"]]) for one in view["pairings"]
    ]
    assert all(sum(int(row[c]) for c in ("first_wins", "draws", "second_wins")) == 10 for row in pairings)
    assert [float(row["first_wins_expected"]) for row in pairings] == [one["expected"][0] for one in view["pairings"]]
    for table in ("standings.csv", "pairings.csv"):
        assert client.get(f"/tournaments/0/{table}").status_code == 404


def test_the_page_of_files_links_to_the_table_with_the_mark(client: Client) -> None:
    learner = machine()
    page = client.get(f"/machines/{learner.pk}/print").content.decode()
    assert f'href="/machines/{learner.pk}/boxes.csv"' in page
    assert "format=csv" not in page


@pytest.mark.parametrize("side", Side)
def test_tables_have_no_formula_and_can_be_imported(client: Client, side: Side) -> None:
    learner = trained_machine(machine_create(game="hexapawn", side=side, name="HER", preset="michie-1961"), games=300)
    content = client.get(f"/machines/{learner.pk}/boxes.csv").content
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    assert any(row["position"].startswith("'-") for row in rows)
    assert not any(cell.startswith(("-", "=", "+", "@")) for row in rows for cell in row.values())
    imported_machine = machine_import(user=None, content=content).machine
    assert beads(imported_machine) == beads(learner)
    # The format of a spreadsheet in German.
    german_table = io.StringIO()
    csv.writer(german_table, delimiter=";", lineterminator="\r\n").writerows(
        [
            [*[*row.values()][:5], f"{row['beads']},0", row["probability"].replace(".", ","), row["draws"]]
            for row in rows
        ]
    )
    text = "position;ply;move_number;move;moves;beads;probability;draws;\r\n" + german_table.getvalue()
    assert beads(machine_import(user=None, content=text.encode("utf-16")).machine) == beads(learner)


def test_a_machine_without_boxes_has_no_table(client: Client) -> None:
    house_machines()
    value_machine = Machine.objects.filter(game="romgon").first()
    if value_machine is not None:
        assert client.get(f"/machines/{value_machine.pk}/boxes.csv").status_code == 404
    assert client.get("/machines/0/boxes.csv").status_code == 404


def beads(learner: Machine) -> dict[str, list[int]]:
    return dict(learner.boxes.values_list("position", "beads"))
