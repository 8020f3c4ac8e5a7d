"""Names and case: machines and tournaments, searched and refused at every entry point for names."""

import json
import unicodedata
from importlib import import_module
from io import StringIO
from typing import Any

import pytest
from axes.models import AccessFailureLog, AccessLog
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from games.models import ApiToken
from learning.kinds.machines import machine_export
from learning.models import Machine, Tournament
from learning.services.machines import machine_update
from tests import factories
from tests.factories import NC, api_with, machine

pytestmark = pytest.mark.django_db
INVISIBLE_NAMES = ["\u3164", "\u2800", "\u202eMENACE", "MEN\u200bACE", "\u0301"]
SEARCHES = [
    ("Ärger", ["ärger", "ÄRGER", "arg", unicodedata.normalize("NFD", "Ärg"), "ÄRGÉR"]),
    (unicodedata.normalize("NFD", "Łódź żółw"), ["łódź", "LODZ", "ŻÓŁW", "z żolw", "ｚｏｌｗ"]),
    ("Матрица", ["матрица", "МАТР"]),
    ("50 % _good_", ["50 %", "_GOOD"]),
]


@pytest.fixture
def owner() -> Any:
    return factories.user("Größe")


@pytest.mark.parametrize(("name", "searches"), SEARCHES)
def test_a_machine_is_found_in_any_case_and_without_accents(name: str, searches: list[str], client: Client) -> None:
    machine(name="MENACE")
    expected_machine = machine(name=name)
    api = api_with(None)
    for text in searches:
        assert [one["id"] for one in api.get("/api/machines", {"search": text}).json()["results"]] == [
            expected_machine.pk
        ]
        page = client.get("/machines", {"search": text})
        assert [one["id"] for one in page.context["machines"]] == [expected_machine.pk]
        assert name in client.get("/machines/compare", {"search": text}).content.decode()
    for text in ("%", "_", "argh"):
        results = api.get("/api/machines", {"search": text}).json()["results"]
        assert [one["id"] for one in results] == ([expected_machine.pk] if text in name else [])


def test_a_renamed_machine_is_found_by_its_new_name(owner: Any) -> None:
    learner = machine(name="Ärger", owner=owner)
    machine_update(user=owner, machine_id=learner.pk, name="Übel")
    api = api_with(None)
    assert [api.get("/api/machines", {"search": text}).json()["count"] for text in ("UBEL", "arger")] == [1, 0]


@pytest.mark.parametrize("name", ["Größe", "GRÖSSE", unicodedata.normalize("NFD", "größe")])
def test_api_lists_find_an_owner_in_any_spelling(owner: Any, name: str) -> None:
    machine(owner=owner)
    machine(owner=factories.user("other"))
    Tournament.objects.create(
        owner=owner, name="Cup", game=NC, format="swiss", n_games=1, n_rounds=1, seed=1, is_public=True
    )
    api = api_with(None)
    for path in ("/api/machines", "/api/tournaments"):
        assert [one["owner"] for one in api.get(path, {"owner": name}).json()["results"]] == ["Größe"]
        assert api.get(path, {"owner": "nobody"}).json()["count"] == 0


def test_the_admin_finds_names_in_any_spelling(owner: Any, admin_client: Client) -> None:
    learner = machine(name="Łódź", owner=owner)
    ApiToken.objects.create(user=owner, name="a", prefix="p", sha256="s", scopes=["read"])
    log_fields = {"ip_address": "192.0.2.1", "user_agent": "", "path_info": "/"}
    AccessLog.objects.create(username="Größe", **log_fields)
    AccessFailureLog.objects.create(username="grösse", **log_fields)
    call_command("names", stdout=StringIO())
    lists = {
        "learning/machine": "LODZ",
        "auth/user": "GRÖSSE",
        "games/apitoken": "große",
        "axes/accesslog": "GRÖSSE",
        "axes/accessfailurelog": "GRÖSSE",
    }
    for path, text in lists.items():
        page = admin_client.get(f"/admin/{path}/", {"q": text})
        assert len(page.context["cl"].result_list) == 1, path
    query = {"term": "grosse", "app_label": "learning", "model_name": "machine", "field_name": "owner"}
    assert [one["id"] for one in admin_client.get("/admin/autocomplete/", query).json()["results"]] == [str(owner.pk)]
    assert learner.search_name == "lodz"


@pytest.mark.parametrize("name", INVISIBLE_NAMES)
def test_forms_refuse_invisible_names(name: str, owner: Any, client: Client) -> None:
    learner = machine(owner=owner)
    client.force_login(owner)
    file = SimpleUploadedFile("m.json", machine_export(learner, "native").text.encode())
    forms = [
        ("/machines/new", {"game": NC, "side": "0", "preset": "scroggs"}),
        (f"/machines/{learner.pk}/edit", {"learns": "on"}),
        ("/machines/import", {"file": file}),
        ("/tournaments/new", {"opponents": ["random", "perfect"], "format": "round-robin", "games": "1"}),
        ("/account/tokens", {"scopes": ["read"], "days": "30"}),
    ]
    for path, form in forms:
        answer = client.post(path, {**form, "name": name})
        assert list(answer.context["form"].errors) == ["name"], path
    answer_to_copy = client.post(f"/machines/{learner.pk}/clone", {"name": name}, follow=True)
    assert any(
        sentence in answer_to_copy.content.decode()
        for sentence in ("A name needs a letter", "holds a hidden character")
    )
    assert (Machine.objects.count(), Tournament.objects.count(), ApiToken.objects.count()) == (1, 0, 0)
    assert Machine.objects.get().name == "MENACE"


@pytest.mark.parametrize("name", INVISIBLE_NAMES)
def test_the_api_refuses_invisible_names(name: str, owner: Any) -> None:
    learner = machine(owner=owner)
    api = api_with(owner, "read", "train")
    requests = [
        ("post", "/api/machines", {"game": NC}),
        ("patch", f"/api/machines/{learner.pk}", {}),
        ("post", f"/api/machines/{learner.pk}/clone", {}),
        ("post", "/api/tournaments", {"entries": ["random", "perfect"], "game": NC, "games": 1}),
        ("post", "/api/learn/keep", {"address": ""}),
    ]
    for method, path, body in requests:
        answer = getattr(api, method)(path, {**body, "name": name})
        assert (answer.status_code, "name" in answer.text) == (400, True), path
    assert (Machine.objects.count(), Tournament.objects.count()) == (1, 0)


@pytest.mark.parametrize("name", INVISIBLE_NAMES)
def test_files_with_invisible_names_are_refused(name: str, owner: Any, tmp_path: Any) -> None:
    learner = machine(owner=owner)
    document = json.loads(machine_export(learner, "native").text) | {"name": name}
    api = api_with(owner, "train")
    refusal = api.post("/api/machines/import", document)
    assert (refusal.status_code, refusal.json()["detail"].startswith("name: ")) == (400, True)
    refusal_of_name = api.post(f"/api/machines/import?name={name}", {**document, "name": "Ada"})
    assert refusal_of_name.status_code == 400
    answer = api.post("/api/machines/import?name=Ada", document)
    assert (answer.status_code, answer.json()["name"]) == (201, "Ada")
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(document))
    with pytest.raises(CommandError, match="name: "):
        call_command("import_machine", str(path))


def test_a_blank_name_in_a_file_counts_as_missing(owner: Any) -> None:
    document = json.loads(machine_export(machine(owner=owner), "native").text)
    api = api_with(owner, "train")
    assert api.post("/api/machines/import", {**document, "name": "  "}).json()["name"].startswith("Imported: ")


def test_commands_find_an_account_in_any_spelling(owner: Any, tmp_path: Any) -> None:
    path = tmp_path / "machine.json"
    path.write_text(machine_export(machine(), "native").text)
    call_command("import_machine", str(path), owner="GRÖSSE", stdout=StringIO())
    assert Machine.objects.get(owner=owner)
    output = StringIO()
    call_command("second_factor_reset", "grösse", stdout=output)
    assert output.getvalue().startswith("Größe has no second factor")


def test_older_machines_are_found() -> None:
    learner = machine(name="Ärger")
    Machine.objects.update(search_name="")
    import_module("learning.migrations.0034_machine_names_folded").fold(apps, None)
    learner.refresh_from_db()
    assert learner.search_name == "arger"
    Machine.objects.update(name="Übel")  # as a process of the previous release renames a machine
    call_command("names", stdout=StringIO())
    learner.refresh_from_db()
    assert learner.search_name == "ubel"
