"""Export and import over HTTP: permissions, formats, and files that are no machines."""

import html
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from beadbox.learners.formats import FORMATS
from beadbox.rules.outcome import Side
from games.accounts.tokens import token_make
from learning.kinds.boxes.memory import ledger_errors
from learning.kinds.machines import machine_export
from learning.models import Machine
from tests.factories import machine, trained_machine, user

DATA_FOLDER = Path(__file__).parents[2] / "data" / "matchbox-ai"


def export(client: Client, learner: Machine, form: str = "", **headers: str) -> Any:
    return client.get(f"/api/machines/{learner.pk}/export{form and f'?format={form}'}", headers=headers)


def post(client: Client, content: str | bytes, query: str = "", kind: str = "application/json", **headers: str) -> Any:
    return client.post(f"/api/machines/import{query}", content, content_type=kind, headers=headers)


def bearer(account: Any, *scopes: str) -> dict[str, str]:
    _, text = token_make(user=account, name="a program", scopes=scopes, lifetime=None)
    return {"Authorization": f"Bearer {text}"}


@pytest.fixture
def anna(client: Client) -> Any:
    account = user("anna")
    client.force_login(account)
    return account


@pytest.mark.django_db
class TestExport:
    @pytest.mark.parametrize("form", FORMATS)
    def test_every_format_as_a_file(self, client: Client, form: str) -> None:
        learner = trained_machine(machine())
        answer = export(client, learner, form)
        assert answer.status_code == 200
        assert answer.content.decode() == machine_export(learner, form).text
        assert answer.headers["Content-Disposition"].startswith(f'attachment; filename="{learner.slug}')
        assert answer.headers["Content-Type"].startswith(FORMATS[form].media_type)

    @pytest.mark.parametrize("accept", ["text/csv", "text/html,application/xhtml+xml", "nonsense"])
    def test_the_file_is_sent_for_any_accept_header(self, client: Client, accept: str) -> None:
        learner = machine()
        assert export(client, learner, "csv", Accept=accept).headers["Content-Type"].startswith("text/csv")
        refusal = export(client, learner, "xml", Accept=accept)
        assert (refusal.status_code, refusal.json()["code"]) == (400, "machine_file")

    def test_by_slug_native_and_with_a_slash(self, client: Client) -> None:
        learner = machine()
        assert client.get(f"/api/machines/{learner.slug}/export/").json()["format"] == "beadbox-machine"

    def test_an_unknown_format_is_refused(self, client: Client) -> None:
        answer = export(client, machine(), "xml")
        assert (answer.status_code, answer.json()["code"]) == (400, "machine_file")

    def test_export_takes_a_fixed_number_of_queries(self, client: Client, django_assert_max_num_queries: Any) -> None:
        learner = machine(preset="apl-notebook")
        with django_assert_max_num_queries(3):
            export(client, learner)

    def test_export_for_owner_other_account_guest_and_staff(self, client: Client) -> None:
        learner = machine(owner=user("anna"), is_public=False)
        assert export(client, learner).status_code == 404
        client.force_login(user("bert"))
        assert export(client, learner).status_code == 404
        client.force_login(learner.owner)  # type: ignore[arg-type]
        assert export(client, learner).status_code == 200
        client.force_login(user("staff", is_staff=True))
        assert export(client, learner).status_code == 200

    def test_tokens_need_the_scope_to_read(self, client: Client) -> None:
        learner = machine(owner=user("anna"), is_public=False)
        assert export(client, learner, **bearer(learner.owner, "read")).status_code == 200
        assert export(client, learner, **bearer(learner.owner, "play")).status_code == 403


@pytest.mark.django_db
class TestImport:
    def test_exported_machine_can_be_imported(self, client: Client, anna: Any) -> None:
        learner = trained_machine(machine(Side.FIRST))
        content = export(client, learner).content
        answer = post(client, content)
        assert answer.status_code == 201
        copy = Machine.objects.get(pk=answer.json()["id"])
        assert copy.owner == anna
        assert export(client, copy).content == content
        assert ledger_errors() == []

    def test_the_rule_and_the_beads_left_out_are_reported(self, client: Client, anna: Any) -> None:
        answer = post(client, (DATA_FOLDER / "x_50_games.json").read_bytes()).json()
        assert (answer["preset"], answer["side"]) == ("matchbox-ai-as-shipped", 0)
        assert answer["set_aside"] == {"beads": 30, "boxes": 13}
        rule, set_aside = answer["notes"]
        assert "the usual rule for such files: Matchbox AI, as shipped (matchbox-ai-as-shipped)" in rule
        assert rule.endswith("For another rule, import the file again and name a preset with ?preset=.")
        assert set_aside.startswith("Left out: 30 beads on taken squares, in 13 boxes. On boards that it turns")

    def test_native_files_lose_no_beads(self, client: Client, anna: Any) -> None:
        for form in FORMATS:
            answer = post(client, machine_export(machine(), form).text, kind=FORMATS[form].media_type).json()
            assert answer["set_aside"] == {"beads": 0, "boxes": 0}
            assert len(answer["notes"]) == 1

    def test_a_file_can_be_part_of_a_form(self, client: Client, anna: Any) -> None:
        file = SimpleUploadedFile("m.csv", machine_export(machine(), "csv").text.encode())
        answer = client.post("/api/machines/import", {"file": file, "name": "From a form", "preset": "michie-1961"})
        assert answer.status_code == 201
        copy = Machine.objects.get(owner=anna)
        assert (copy.name, copy.boxes.count()) == ("From a form", 289)

    def test_a_table_can_be_the_body(self, client: Client, anna: Any) -> None:
        answer = post(client, machine_export(machine(), "csv").text, "?name=Table", "text/csv")
        assert (answer.status_code, answer.json()["name"]) == (201, "Table")

    def test_options_can_be_in_the_address(self, client: Client, anna: Any) -> None:
        text = machine_export(machine(), "matchbox-ai").text
        answer = post(client, text, "?format=matchbox-ai&side=1&game=noughts-and-crosses&preset=michie-refill")
        assert answer.status_code == 201
        assert Machine.objects.get(owner=anna).preset == "michie-refill"
        assert post(client, text, "?side=2").status_code == 400

    def test_files_larger_than_a_common_body_are_read(self, client: Client, anna: Any) -> None:
        content = machine_export(trained_machine(machine(preset="apl-notebook"))).text
        assert len(content) > 128 * 1024
        assert post(client, content).status_code == 201

    @pytest.mark.parametrize(
        ("content", "place"),
        [("", "empty"), ("[", "line 1"), ("[1]", "[0]"), ('{"memory": 1}', "memory"), ("{}", "format")],
    )
    def test_a_refusal_names_the_place_and_keeps_nothing(
        self, client: Client, anna: Any, content: str, place: str
    ) -> None:
        answer = post(client, content)
        assert answer.status_code == 400
        assert answer.json()["code"] in ("machine_file", "malformed")
        assert place in answer.json()["detail"] or content == ""
        assert not Machine.objects.exists()

    @pytest.mark.parametrize(
        ("kind", "content", "hint"),
        [
            ("application/vnd.ms-excel", b"PK\x03\x04", "zip archive"),
            ("application/gzip", b"\x1f\x8b\x08\x00rest", "Unpack"),
            ("text/html", b"<!doctype html><table></table>", "HTML"),
            ("text/csv; charset=utf-16", b"position", "Send UTF-8"),
        ],
    )
    def test_a_body_of_another_kind_is_recognised(
        self, client: Client, anna: Any, kind: str, content: bytes, hint: str
    ) -> None:
        answer = post(client, content, kind=kind)
        assert answer.status_code == 400
        assert hint.lower() in answer.json()["detail"].lower()

    @pytest.mark.parametrize("kind", ["application/octet-stream", "text/plain", "text/tab-separated-values"])
    def test_the_format_follows_from_the_content(self, client: Client, anna: Any, kind: str) -> None:
        assert post(client, machine_export(machine(), "csv").text, kind=kind).status_code == 201

    def test_bodies_without_a_file(self, client: Client, anna: Any) -> None:
        assert post(client, b"<machine/>", kind="application/xml").status_code == 400
        assert client.post("/api/machines/import", {"name": "no file"}).json()["code"] == "malformed"
        assert client.get("/api/machines/import").status_code in (404, 405)

    def test_import_for_guests_and_tokens(self, client: Client) -> None:
        content = machine_export(machine()).text
        assert post(client, content).status_code in (401, 403)
        anna = user("anna")
        assert post(client, content, **bearer(anna, "read", "play")).status_code == 403
        assert not Machine.objects.filter(owner=anna).exists()
        assert post(client, content, **bearer(anna, "train")).status_code == 201
        assert Machine.objects.filter(owner=anna).count() == 1

    def test_a_session_needs_the_csrf_token(self) -> None:
        client = Client(enforce_csrf_checks=True)
        client.force_login(user("anna"))
        assert post(client, machine_export(machine()).text).status_code == 403

    def test_an_account_has_a_quota(self, client: Client, anna: Any, settings: Any) -> None:
        settings.MACHINES_PER_ACCOUNT = 1
        content = machine_export(machine()).text
        assert post(client, content).status_code == 201
        answer = post(client, content)
        assert (answer.status_code, answer.json()["code"]) == (409, "machine_quota")
        assert Machine.objects.filter(owner=anna).count() == 1

    def test_the_schema_has_export_and_import(self, client: Client) -> None:
        answer = client.get("/api/schema", headers={"Accept": "application/vnd.oai.openapi+json"})
        assert answer.status_code == 200
        paths = json.loads(answer.content)["paths"]
        assert "multipart/form-data" in paths["/api/machines/import"]["post"]["requestBody"]["content"]
        answer_schema = paths["/api/machines/import"]["post"]["responses"]["201"]["content"]["application/json"][
            "schema"
        ]
        assert answer_schema["$ref"].endswith("/ImportedMachine")
        (parameter,) = [p for p in paths["/api/machines/{ref}/export"]["get"]["parameters"] if p["name"] == "format"]
        assert sorted(parameter["schema"]["enum"]) == sorted(FORMATS)


@pytest.mark.django_db
class TestImportPage:
    def test_a_file_becomes_a_machine_of_ones_own(self, client: Client, anna: Any) -> None:
        assert b"Import a machine" in client.get("/machines/import").content
        text = machine_export(trained_machine(machine(name="Old friend"))).text
        answer = client.post("/machines/import", {"file": BytesIO(text.encode())})
        copy = Machine.objects.get(owner=anna)
        assert answer.headers["Location"] == copy.get_absolute_url()
        assert copy.name == "Old friend"

    def test_the_rule_and_the_beads_left_out_are_reported(self, client: Client, anna: Any) -> None:
        with (DATA_FOLDER / "o_500_games.json").open("rb") as file:
            answer = client.post("/machines/import", {"file": file}, follow=True)
        page = html.unescape(answer.content.decode())
        assert "the usual rule for such files: Matchbox AI, as shipped (matchbox-ai-as-shipped)" in page
        assert "For another rule, import the file again and choose one under “Learning rule”." in page
        assert "Left out: 164 beads on taken squares, in 30 boxes. On boards that it turns" in page

    def test_a_refusal_is_shown_at_the_field_of_the_file(self, client: Client, anna: Any) -> None:
        answer = client.post("/machines/import", {"file": BytesIO(b"[1]")})
        assert answer.status_code == 400
        assert b"[0]: Please give an object" in answer.content
        assert not Machine.objects.exists()

    def test_guests_log_in_first(self, client: Client) -> None:
        assert "/login" in client.get("/machines/import").headers["Location"]


@pytest.mark.django_db
def test_a_mistyped_import_option_is_refused(client: Client, anna: Any) -> None:
    text = machine_export(machine(), "csv").text
    for query in ("?sied=1", "?Name=x"):
        answer = post(client, text, query, "text/csv")
        assert (answer.status_code, answer.json()["code"]) == (400, "malformed"), query
    assert Machine.objects.filter(owner=anna).count() == 0
