"""The API of machines, boxes and strength: permissions, errors with their fields, and answers."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from beadbox.rules.outcome import Side
from games.models import ApiToken
from learning.kinds.boxes.memory import ledger_errors
from learning.models import Machine
from learning.services import machines as services
from learning.services.runs import Stage, training_run_start
from tests.factories import NC, api_with, guest, house_machines, machine, play_out, room, trained_machine

pytestmark = pytest.mark.django_db

People = dict[str, APIClient]


def code_of(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def field_of(response: Any) -> str:
    assert response.status_code == 400, response.content
    return str(response.json()["detail"].partition(":")[0])


# Permissions: (method, path after the machine, body, status if allowed)

CALLS: dict[str, tuple[str, str, dict[str, Any] | None, int]] = {
    "look": ("get", "", None, 200),
    "boxes": ("get", "/boxes", None, 200),
    "box": ("get", "/boxes/.........", None, 200),
    "strength": ("get", "/strength", None, 200),
    "copy": ("post", "/clone", {}, 201),
    "change": ("patch", "", {"name": "New name"}, 200),
    "reset": ("post", "/reset", None, 200),
    "delete": ("delete", "", None, 204),
}
READ_CALLS = ("look", "boxes", "box", "strength")


def expected_answer(call: str, caller: str, is_public: bool) -> tuple[int, str]:
    """Return the expected status and code for a caller, a call and the machine's visibility."""
    if caller == "token without scope":
        return 403, "scope_missing"
    if caller == "guest" and call not in READ_CALLS:
        return 401, "not_authenticated"
    if caller in ("owner", "staff", "owner's token"):
        return CALLS[call][3], ""
    if not is_public:
        return 404, "machine_not_found"
    if call in READ_CALLS or call == "copy":
        return CALLS[call][3], ""
    return 403, "not_your_machine"


@pytest.mark.parametrize("is_public", [True, False], ids=["public", "hidden"])
@pytest.mark.parametrize("caller", ["owner", "other", "staff", "guest", "owner's token", "token without scope"])
@pytest.mark.parametrize("call", CALLS)
def test_permissions_of_every_call(people: People, owner: Any, call: str, caller: str, is_public: bool) -> None:
    learner = machine(Side.FIRST, owner=owner, is_public=is_public)
    method, path, body, _ = CALLS[call]
    response = getattr(people[caller], method)(f"/api/machines/{learner.slug}{path}", body)
    status, code = expected_answer(call, caller, is_public)
    assert response.status_code == status, response.content
    if code:
        assert response.json()["code"] == code
    if status >= 400:
        assert Machine.objects.get() == learner
        assert Machine.objects.get().name == "MENACE"


@pytest.mark.parametrize("method", ["patch", "delete"])
def test_only_staff_changes_house_machines(people: People, method: str) -> None:
    learner = house_machines()[Side.FIRST]
    for caller, status in {"owner": 403, "guest": 401, "staff": 200 if method == "patch" else 204}.items():
        response = getattr(people[caller], method)(f"/api/machines/{learner.pk}", {"description": "Ours."})
        assert response.status_code == status


@pytest.mark.parametrize("end", ["expired", "revoked"])
def test_an_ended_token_is_refused(people: People, owner: Any, end: str) -> None:
    learner = machine(owner=owner)
    ApiToken.objects.update(**{"expires_at" if end == "expired" else "revoked_at": timezone.now()})
    for method, path in (("get", f"/{learner.pk}"), ("post", ""), ("delete", f"/{learner.pk}")):
        response = getattr(people["owner's token"], method)(f"/api/machines{path}")
        assert code_of(response) == (401, f"token_{end}")


@pytest.mark.parametrize("scopes", [("read",), ("train",), ("read", "play")])
def test_reading_needs_read_and_changing_needs_train(owner: Any, scopes: tuple[str, ...]) -> None:
    learner, api = machine(owner=owner), api_with(owner, *scopes)
    assert (api.get("/api/machines").status_code == 200) == ("read" in scopes)
    assert (api.patch(f"/api/machines/{learner.pk}", {}).status_code == 200) == ("train" in scopes)


# Making


def test_machine_from_a_preset_belongs_to_its_maker(people: People, owner: Any) -> None:
    body = {"game": NC, "side": "O", "name": " Matchbox ", "preset": "scroggs", "description": "Mine."}
    response = people["owner's token"].post("/api/machines", body)
    assert response.status_code == 201
    answer = response.json()
    assert (answer["name"], answer["side"], answer["role"], answer["owner"]) == ("Matchbox", 1, "O", "owner")
    assert (answer["preset"], answer["rule"]["initial"], answer["public"]) == ("scroggs", [8, 4, 2, 1], True)
    assert people["guest"].get(f"/api/machines/{answer['slug']}").json() == answer
    assert Machine.objects.get().boxes.count() > 200


def test_a_machine_is_made_from_a_rule_of_its_own(people: People) -> None:
    rule = {"initial": [5], "win": 2, "loss": -2, "when_empty": "refill"}
    machine_json = people["owner"].post("/api/machines", {"game": NC, "rule": rule, "public": False}).json()
    assert machine_json["rule"] == {**Machine.objects.get().rule_json, **rule}
    assert (machine_json["preset"], machine_json["name"], machine_json["public"]) == (
        "",
        "Noughts and crosses X",
        False,
    )
    assert set(Machine.objects.get().boxes.order_by("ply")[0].beads) == {5}


@pytest.mark.parametrize(
    ("wrong_fields", "field"),
    [
        ({"game": "chess"}, "game"),
        ({"game": None}, "game"),
        ({"side": "Z"}, "side"),
        ({"side": "random"}, "side"),
        ({"side": 2}, "side"),
        ({"name": ""}, "name"),
        ({"name": "x" * 81}, "name"),
        ({"name": "a\0b"}, "name"),
        ({"description": "x" * 2001}, "description"),
        ({"preset": "nobody"}, "preset"),
        ({"public": "perhaps"}, "public"),
        ({"rule": []}, "rule"),
        ({"rule": {"floor": -1}}, "rule.floor"),
        ({"rule": {"initial": [True]}}, "rule.initial"),
        ({"rule": {"win": 1.5}}, "rule.win"),
        ({"rule": {"boxes": 3}}, "rule.boxes"),
        ({"rule": {"kind": "q-learning", "epsilon": 10**400}}, "rule.epsilon"),
        ({"rule": {}, "preset": "scroggs"}, "rule"),
        ({"owner": "other"}, "owner"),
        ({"learn": False}, "learn"),
    ],
)
def test_refusal_of_a_new_machine_names_the_field(people: People, wrong_fields: dict[str, Any], field: str) -> None:
    response = people["owner"].post("/api/machines", {"game": NC, "name": "Matchbox", **wrong_fields})
    assert field_of(response) == field
    assert field.partition(".")[0] in response.json()["fields"]
    assert not Machine.objects.exists()


@pytest.mark.parametrize("body", ["[]", '"x"', "null", "3", '{"game"'])
def test_a_body_that_is_no_object_is_refused(people: People, body: str) -> None:
    assert people["owner"].post("/api/machines", body, content_type="application/json").status_code == 400
    assert not Machine.objects.exists()


def test_making_a_machine_needs_account_and_train_scope(people: People) -> None:
    body = {"game": NC, "name": "Matchbox"}
    assert code_of(people["guest"].post("/api/machines", body)) == (401, "not_authenticated")
    assert code_of(people["token without scope"].post("/api/machines", body)) == (403, "scope_missing")
    assert not Machine.objects.exists()


def test_an_account_has_a_machine_quota(settings: Any, people: People) -> None:
    settings.MACHINES_PER_ACCOUNT = 1
    machine_json = people["owner"].post("/api/machines", {"game": NC}).json()
    assert code_of(people["owner"].post("/api/machines", {"game": NC})) == (409, "machine_quota")
    assert code_of(people["owner"].post(f"/api/machines/{machine_json['id']}/clone", {})) == (409, "machine_quota")
    assert people["other"].post(f"/api/machines/{machine_json['id']}/clone", {}).status_code == 201


# Changing


def test_a_machine_is_renamed_frozen_and_hidden(people: People, owner: Any) -> None:
    learner = machine(owner=owner)
    body = {"name": "Fritz", "description": "", "learns": False, "public": False}
    answer = people["owner"].patch(f"/api/machines/{learner.pk}", body).json()
    assert {name: answer[name] for name in body} == body
    assert people["other"].get(f"/api/machines/{learner.pk}").status_code == 404
    assert people["owner"].patch(f"/api/machines/{learner.pk}", {}).json() == answer
    assert people["owner"].patch(f"/api/machines/{learner.pk}", {"learns": True}).json()["learns"] is True


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": None}, "name"),
        ({"learns": "maybe"}, "learns"),
        ({"public": None}, "public"),
        ({"rule": {"win": 9}}, "rule"),
        ({"side": 1}, "side"),
        ({"games": 10}, "games"),
    ],
)
def test_refusal_of_a_change_names_the_field(people: People, owner: Any, body: dict[str, Any], field: str) -> None:
    learner = machine(Side.FIRST, owner=owner)
    row_before = Machine.objects.values().get()
    assert field_of(people["owner"].patch(f"/api/machines/{learner.pk}", {"description": "!", **body})) == field
    assert Machine.objects.values().get() == row_before


def test_a_copy_begins_with_the_state_of_the_original(people: People, owner: Any) -> None:
    learner = trained_machine(machine(owner=owner), 300)
    copy_json = people["other"].post(f"/api/machines/{learner.slug}/clone", {"name": "Twin", "public": False}).json()
    assert (copy_json["name"], copy_json["owner"], copy_json["copied_from"], copy_json["public"]) == (
        "Twin",
        "other",
        learner.pk,
        False,
    )
    assert (copy_json["games"], copy_json["lessons"]) == (0, 0)
    boxes = learner.boxes.order_by("position").values_list("position", "beads")
    assert list(
        Machine.objects.get(pk=copy_json["id"]).boxes.order_by("position").values_list("position", "beads")
    ) == [*boxes]
    trained_machine(Machine.objects.get(pk=copy_json["id"]), 100)
    assert list(learner.boxes.order_by("position").values_list("position", "beads")) == [*boxes]
    assert ledger_errors() == []


@pytest.mark.parametrize(("body", "field"), [({"name": ""}, "name"), ({"public": 7}, "public"), ({"n": 1}, "n")])
def test_refusal_of_a_copy_names_the_field(people: People, body: dict[str, Any], field: str) -> None:
    assert field_of(people["owner"].post(f"/api/machines/{machine().pk}/clone", body)) == field
    assert Machine.objects.count() == 1


def test_reset_and_delete_wait_for_the_training_to_end(people: People, owner: Any) -> None:
    learner = machine(owner=owner)
    training_run_start(machine=learner.slug, stages=[Stage("random", 10)], seed=1, enqueue=False)
    assert code_of(people["owner"].post(f"/api/machines/{learner.pk}/reset")) == (409, "machine_busy")
    assert people["owner"].delete(f"/api/machines/{learner.pk}").status_code == 204


def test_reset_keeps_the_ledger_valid(people: People, owner: Any) -> None:
    learner = trained_machine(machine(owner=owner), 300)
    answer = people["owner"].post(f"/api/machines/{learner.pk}/reset").json()
    assert (answer["games"], answer["wins"], answer["level"]) == (0, 0, 1)
    assert ledger_errors() == []
    first_box = people["owner"].get(f"/api/machines/{learner.pk}/boxes").json()["results"][0]
    assert (first_box["beads"], sum(first_box["draws"])) == (first_box["start"], 0)


# Lists


def listed_names(api: APIClient, query: str = "") -> list[str]:
    answer = api.get(f"/api/machines{query}").json()
    assert set(answer) == {"count", "next", "previous", "results"}
    assert answer["count"] == len(answer["results"])
    return [entry["name"] for entry in answer["results"]]


def test_a_list_shows_visible_machines_only(people: People, owner: Any) -> None:
    machine(name="house")
    machine(name="public", owner=owner)
    machine(name="hidden", owner=owner, is_public=False)
    machine(name="of a room", owner=owner, room=room().room)
    assert listed_names(people["guest"]) == listed_names(people["other"]) == ["house", "public"]
    all_names = ["house", "public", "hidden", "of a room"]
    assert (
        listed_names(people["owner"])
        == listed_names(people["staff"])
        == listed_names(people["owner's token"])
        == all_names
    )


def test_a_list_can_be_filtered(people: People, owner: Any) -> None:
    machine(Side.FIRST, "scroggs", name="Anna", owner=owner)
    machine(Side.SECOND, "go-server", name="Berta", learns=False)
    api = people["guest"]
    for query, names in {
        "?side=X": ["Anna"],
        "?side=1": ["Berta"],
        "?rule=scroggs": ["Anna"],
        "?owner=owner": ["Anna"],
        f"?game={NC}": ["Anna", "Berta"],
        "?learns=false": ["Berta"],
        "?search=ERT": ["Berta"],
        "?ordering=-name": ["Berta", "Anna"],
    }.items():
        assert listed_names(api, query) == names, query


@pytest.mark.parametrize("query", ["side=Z", "ordering=rule", "game=chess", "rule=chess"])
def test_refusal_of_a_filter_names_the_parameter(people: People, query: str) -> None:
    assert field_of(people["guest"].get(f"/api/machines?{query}")) == query.partition("=")[0]


def test_a_list_has_pages(people: People) -> None:
    for number in range(5):
        machine(name=str(number))
    api, names, url = people["guest"], [], "/api/machines?limit=2"
    while url:
        answer = api.get(url).json()
        names += [entry["name"] for entry in answer["results"]]
        assert answer["count"] == 5
        url = answer["next"]
    assert names == list("01234")
    assert api.get("/api/machines?limit=100000&offset=99999999999999999999999").json()["results"] == []


def test_machines_equal_in_an_ordering_appear_on_one_page_only(people: People) -> None:
    twin_ids = [machine(name="Twin").pk for _ in range(6)]
    Machine.objects.filter(pk__in=twin_ids[:3]).update(description="written again, so it lies behind the others")
    for ordering in ("name", "-name", "games", "-games"):
        pages = [f"/api/machines?ordering={ordering}&limit=2&offset={offset}" for offset in (0, 2, 4)]
        listed_ids = [entry["id"] for page in pages for entry in people["guest"].get(page).json()["results"]]
        assert listed_ids == twin_ids, ordering


@pytest.mark.parametrize("collection", ["machines", "boxes"])
@pytest.mark.parametrize("blanks", [",", ",,", "%20,", "", " "])
def test_blanks_in_an_ordering_are_ignored(people: People, learner: Machine, collection: str, blanks: str) -> None:
    path, column = {"machines": ("/api/machines", "name"), "boxes": (f"/api/machines/{learner.pk}/boxes", "ply")}[
        collection
    ]
    for ordering, query in ((blanks, ""), (f"{blanks},-{column}", f"?ordering=-{column}")):
        answer = people["guest"].get(f"{path}?ordering={ordering}")
        assert answer.status_code == 200, answer.content
        assert answer.json()["results"] == people["guest"].get(path + query).json()["results"]


def test_number_of_queries_does_not_depend_on_the_length(people: People, owner: Any) -> None:
    def n_queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert people["guest"].get("/api/machines").status_code == 200
        return len(queries)

    machine(owner=owner)
    n_before = n_queries()
    for _ in range(5):
        machine(owner=owner)
    assert n_queries() == n_before == 2


# Boxes and strength


@pytest.fixture
def learner() -> Machine:
    return trained_machine(machine(Side.FIRST, "matchbox-ai"), 400)


def boxes_of(api: APIClient, learner: Machine, query: str = "") -> list[dict[str, Any]]:
    answer = api.get(f"/api/machines/{learner.pk}/boxes?limit=200{query}")
    assert answer.status_code == 200, answer.content
    results: list[dict[str, Any]] = answer.json()["results"]
    return results


def test_boxes_show_their_contents(people: People, learner: Machine) -> None:
    (first_box, *_) = boxes_of(people["guest"], learner)
    box = learner.boxes.get(position=".........")
    assert (first_box["position"], first_box["ply"], first_box["move_number"]) == (".........", 0, 1)
    assert (first_box["beads"], first_box["draws"], first_box["start"]) == (box.beads, box.visits, box.start)
    assert first_box["probabilities"] == [count / sum(box.beads) for count in box.beads]
    assert len(first_box["symmetries"]) == 8
    assert sorted(first_box["moves"][0]) == ["1", "3", "7", "9"]


Check = Callable[[dict[str, Any]], bool]


@pytest.mark.parametrize(
    ("query", "is_match"),
    [
        ("&move_number=2", lambda box: box["move_number"] == 2),
        ("&ply=4", lambda box: box["ply"] == 4),
        ("&visited=true", lambda box: any(box["draws"])),
        ("&visited=false", lambda box: not any(box["draws"])),
        ("&removed=true", lambda box: 0 in box["beads"]),
        ("&removed=false", lambda box: 0 not in box["beads"]),
        ("&emptied=false&removed=true", lambda box: 0 in box["beads"] and any(box["beads"])),
        ("&search=XX", lambda box: "XX" in box["position"]),
    ],
)
def test_boxes_can_be_filtered(people: People, learner: Machine, query: str, is_match: Check) -> None:
    n_found = people["guest"].get(f"/api/machines/{learner.pk}/boxes?limit=1{query}").json()["count"]
    all_boxes = [entry for offset in (0, 200, 400) for entry in boxes_of(people["guest"], learner, f"&offset={offset}")]
    assert n_found == sum(map(is_match, all_boxes)) > 0
    assert all(map(is_match, boxes_of(people["guest"], learner, query)))


def test_a_box_is_found_by_a_position_in_any_orientation(people: People, learner: Machine) -> None:
    (box,) = boxes_of(people["guest"], learner, "&search=X.......O")
    (turned_box,) = boxes_of(people["guest"], learner, "&search=..X...O..")
    assert box == turned_box
    assert boxes_of(people["guest"], learner, "&search=%25") == []


@pytest.mark.parametrize(
    ("ordering", "key"),
    [
        ("beads", lambda box: sum(box["beads"])),
        ("draws", lambda box: sum(box["draws"])),
        ("change", lambda box: sum(abs(a - b) for a, b in zip(box["beads"], box["start"], strict=True))),
        ("move_number", lambda box: box["move_number"]),
        ("position", lambda box: box["position"]),
    ],
)
def test_boxes_can_be_ordered(people: People, learner: Machine, ordering: str, key: Callable[[Any], Any]) -> None:
    ascending, descending = (boxes_of(people["guest"], learner, f"&ordering={sign}{ordering}") for sign in ("", "-"))
    assert [key(box) for box in ascending] == sorted(map(key, ascending))
    assert [key(box) for box in descending] == sorted(map(key, descending), reverse=True)
    assert key(ascending[0]) < key(descending[0])


@pytest.mark.parametrize("query", ["ply=x", "ply=-1", "ply=99999999999999999999", "move_number=1.5", "ordering=box"])
def test_refusal_of_a_box_filter_names_the_parameter(people: People, learner: Machine, query: str) -> None:
    response = people["guest"].get(f"/api/machines/{learner.pk}/boxes?{query}")
    assert field_of(response) == query.partition("=")[0]


def test_pages_of_boxes_have_each_box_once(people: People, learner: Machine) -> None:
    positions, url = [], f"/api/machines/{learner.pk}/boxes?ordering=move_number&limit=37"
    while url:
        answer = people["guest"].get(url).json()
        positions += [box["position"] for box in answer["results"]]
        url = answer["next"]
    assert len(positions) == len(set(positions)) == learner.boxes.count() == answer["count"]


@pytest.mark.parametrize("limit", [1, 200])
def test_a_page_of_boxes_takes_three_queries(people: People, learner: Machine, limit: int) -> None:
    with CaptureQueriesContext(connection) as queries:
        people["guest"].get(f"/api/machines/{learner.pk}/boxes?limit={limit}&ordering=-change&visited=true")
    assert len(queries) == 3


def test_a_box_has_the_orientation_of_the_request(people: People) -> None:
    learner = trained_machine(machine(Side.SECOND), 50)
    answers = {
        position: people["guest"].get(f"/api/machines/{learner.pk}/boxes/{position}").json()
        for position in ("X........", "........X")
    }
    answer, turned_answer = answers.values()
    assert answer["box"] == turned_answer["box"]
    assert answer["history"] == turned_answer["history"]
    assert {move["move"] for move in answer["moves"]} == set("23456789")
    assert {move["move"] for move in turned_answer["moves"]} == set("12345678")
    opposite = {str(n): str(10 - n) for n in range(1, 10)}
    chances = {move["move"]: move["probability"] for move in turned_answer["moves"]}
    assert {move["move"]: move["probability"] for move in answer["moves"]} == pytest.approx(
        {opposite[move]: chance for move, chance in chances.items()}
    )
    assert sum(chances.values()) == pytest.approx(1)
    assert {change["kind"] for change in answer["history"]} == {"training"}
    box = learner.boxes.get(position=answer["box"]["position"])
    total = [sum(change["deltas"][slot] for change in answer["history"]) for slot in range(len(box.beads))]
    assert [start + delta for start, delta in zip(box.start, total, strict=True)] == box.beads


def test_the_history_of_a_box_names_the_room_of_a_match(people: People) -> None:
    learner = machine(Side.SECOND)
    seated = room("machine", guest(), machine=learner.slug)
    play_out(seated.room.code, guest())
    box = next(box for box in boxes_of(people["guest"], learner, "&visited=true") if box["ply"] == 1)
    answer = people["guest"].get(f"/api/machines/{learner.pk}/boxes/{box['position']}").json()
    (change,) = answer["history"]
    assert (change["kind"], change["room"], change["training_run"]) == ("match", seated.room.code, None)
    assert (change["lesson"], change["after"]) == (1, answer["box"]["beads"])


@pytest.mark.parametrize("position", ["nonsense", "XO.......", "XXXOO....", "........", "%00"])
def test_a_position_without_a_box_is_not_found(people: People, position: str) -> None:
    response = people["guest"].get(f"/api/machines/{machine(Side.SECOND).pk}/boxes/{position}")
    assert code_of(response) == (404, "box_not_found")


def test_strength_is_exact_and_adds_up(people: People, learner: Machine) -> None:
    strength = people["guest"].get(f"/api/machines/{learner.slug}/strength").json()
    assert set(strength) == {"random", "win_block", "perfect", "worst"}
    for chances in strength.values():
        assert sum(chances.values()) == pytest.approx(1)
    assert strength["perfect"]["win"] == 0


@pytest.mark.parametrize("ref", ["nowhere", "999999999999999999", "9" * 30])
@pytest.mark.parametrize("path", ["", "/boxes", "/boxes/.........", "/strength"])
def test_a_missing_machine_is_not_found(people: People, ref: str, path: str) -> None:
    assert code_of(people["guest"].get(f"/api/machines/{ref}{path}")) == (404, "machine_not_found")


def test_trailing_slashes_are_served(people: People, learner: Machine) -> None:
    for path in ("", f"/{learner.pk}", f"/{learner.pk}/boxes", f"/{learner.pk}/boxes/.........", "/menace"):
        answer, answer_with_slash = (people["guest"].get(f"/api/machines{path}{end}") for end in ("", "/"))
        assert answer.status_code == answer_with_slash.status_code


def test_a_session_needs_its_csrf_token_to_change_anything(owner: Any) -> None:
    api = APIClient(enforce_csrf_checks=True)
    api.force_login(owner)
    learner = machine(owner=owner)
    assert api.delete(f"/api/machines/{learner.pk}").status_code == 403
    assert services.machine_update(user=owner, machine_id=learner.pk, name="Still here").name == "Still here"
