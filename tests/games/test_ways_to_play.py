"""Taking over the seat of a machine, and exhibitions that move on request: permissions and learning."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from beadbox.learners.boxes.machine import BeadDraw, BoxMachine
from beadbox.learners.boxes.rule import BoxRule, FinalLoss, OpenBoxes, WhenEmpty
from beadbox.rules.outcome import Result, Side
from beadbox.rules.registry import GAMES
from games import exceptions
from games.accounts.principal import Principal
from games.live.play import match_play_move, match_resign, match_step
from games.live.rooms import SeatResult, room_create, room_join, room_reset, seats_claim
from games.models import Match, Ply, Room, Seat
from learning.exceptions import MachineNotFoundError, MachineWrongSideError, NotYourMachineError
from learning.kinds.boxes.memory import ledger_errors
from learning.models import Box, Draw, Lesson, LessonKind, Machine
from learning.services.machines import machine_create
from tests.factories import NC, guest, house_machines, machine, person, play, play_out, room_view, stranger, user
from tests.waiting import HANG_S

pytestmark = pytest.mark.django_db

GAMES_WITH_BOXES = [slug for slug, game in GAMES.items() if game.supports_boxes]
RULE_WITHOUT_OPEN_BOXES = BoxRule(open_boxes=OpenBoxes.WHEN_MET)


def take_over(learner: Machine, player: Principal, opponent: str = "random", **options: Any) -> SeatResult:
    options.setdefault("game", learner.game)
    return room_create(person=player, opponent=opponent, takes_over=str(learner.pk), **options)


def open_exhibition(
    first: Machine | str, second: Machine | str, player: Principal | None = None, **options: Any
) -> SeatResult:
    names = {"first": first, "second": second}
    seats = {side: str(one.pk) if isinstance(one, Machine) else one for side, one in names.items()}
    game = next((one.game for one in names.values() if isinstance(one, Machine)), NC)
    return room_create(person=player or guest(), game=game, **seats, **options)


def make_steps(seat: SeatResult, n: int, player: Principal | None = None) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for _ in range(n):
        state = match_step(code=seat.room.code, person=player or guest())
    return state


def step_to_the_end(seat: SeatResult, player: Principal | None = None) -> dict[str, Any]:
    return match_step(code=seat.room.code, person=player or guest(), max_plies=100)


def changed_boxes(learner: Machine) -> dict[str, tuple[int, ...]]:
    """Return the boxes of a machine with beads that differ from the initial beads."""
    rows = Box.objects.filter(machine=learner).values_list("position", "start", "beads")
    return {position: tuple(beads) for position, start, beads in rows if beads != start}


def beads_learnt_by_hand(learner: Machine, match: Match, *, resigned: bool = False) -> dict[str, list[int]]:
    """Return the beads of the readable machine after the stored draws of a new machine and the match's result."""
    learner.refresh_from_db()
    readable = BoxMachine(learner.game_rules, Side(learner.side), learner.box_rule)
    rows = Draw.objects.filter(machine=learner, seat__match=match).order_by("ply")
    draws = [BeadDraw(draw.position, tuple(draw.beads), draw.slot) for draw in rows]
    for draw in draws:
        readable.open_box(readable.game.decode(draw.box))
    winner = None if match.winner is None else Side(match.winner)
    result = Result.DRAW if winner is None else Result.WIN if winner == learner.side else Result.LOSS
    readable.restock(draws, result, resigned=resigned)
    return dict(readable.boxes)


def stored_beads(learner: Machine, keys: Any) -> dict[str, list[int]]:
    boxes = Box.objects.filter(machine=learner, position__in=list(keys))
    return dict(boxes.values_list("position", "beads"))


class TestTakingOver:
    @pytest.mark.parametrize("game", GAMES_WITH_BOXES)
    @pytest.mark.parametrize("side", Side)
    def test_both_machines_learn_one_from_a_persons_moves(self, game: str, side: Side) -> None:
        """A machine with its seat taken over learns from the moves that the person plays."""
        owner = user()
        own_machine = machine_create(game=game, side=side, name="Own", rule=RULE_WITHOUT_OPEN_BOXES, owner=owner)
        other = machine_create(game=game, side=side.other, name="Other", rule=RULE_WITHOUT_OPEN_BOXES)
        seat = take_over(own_machine, person(owner), "machine", machine=str(other.pk))
        assert seat.side is side
        state = play_out(seat.room.code, person(owner))
        match = Match.objects.get()
        seats = {seat["side"]: seat for seat in state["seats"]}
        assert (seats[side]["kind"], seats[side]["name"], seats[side]["takes_over"]) == ("human", "owner", True)
        assert [seats[one]["machine"]["name"] for one in (side, side.other)] == ["Own", "Other"]
        assert [seats[one]["machine"]["games"] for one in (side, side.other)] == [1, 1], (
            "the numbers of games include this match"
        )
        own_plies = Ply.objects.filter(side=side)
        cabinet, before = own_machine.cabinet, {ply.number + 1: ply.position for ply in Ply.objects.all()}
        before[0] = own_machine.game_rules.encode(own_machine.game_rules.initial_position())
        chosen = [p.number for p in own_plies if cabinet.has_box(own_machine.game_rules.decode(before[p.number]))]
        assert [draw.ply for draw in Draw.objects.filter(machine=own_machine).order_by("ply")] == chosen
        for learner in (own_machine, other):
            readable = beads_learnt_by_hand(learner, match)
            assert stored_beads(learner, readable) == readable
            assert list(learner.lessons.values_list("kind", flat=True)) == ["match"]
        by_hand = {draw["role"]: draw["by_hand"] for draw in state["learning"]["draws"]}
        assert by_hand[seats[side]["role"]] is True
        assert by_hand[seats[side.other]["role"]] is False
        assert [lesson["machine"]["id"] for lesson in state["learning"]["lessons"]] == (
            [own_machine.pk, other.pk] if side is Side.FIRST else [other.pk, own_machine.pk]
        )
        assert ledger_errors() == []

    def test_a_persons_resignation_counts_as_a_lost_game(self) -> None:
        owner = user()
        rule = BoxRule(final_loss=FinalLoss.REMOVE, punish_previous_on_resign=True)
        own_machine = machine_create(game=NC, side=Side.FIRST, name="Own", rule=rule, owner=owner)
        seat = take_over(own_machine, person(owner))
        play(seat, person(owner), "5")
        state = match_resign(code=seat.room.code, person=person(owner))
        own_machine.refresh_from_db()
        assert (own_machine.n_games, own_machine.n_losses, own_machine.n_removed) == (1, 1, 0)
        assert changed_boxes(own_machine) == {".........": (4, 4, 3)}, (
            "a resignation takes one bead, not the whole slot"
        )
        assert state["learning"]["lesson"]["result"] == "loss"
        assert beads_learnt_by_hand(reread_machine(own_machine), Match.objects.get(), resigned=False) != {
            ".........": [4, 4, 3]
        }

    def test_a_loss_on_the_board_removes_the_last_move(self) -> None:
        owner = user()
        rule = BoxRule(final_loss=FinalLoss.REMOVE)
        own_machine = machine_create(game=NC, side=Side.FIRST, name="Own", rule=rule, owner=owner)
        seat = take_over(own_machine, person(owner), "perfect")
        Match.objects.update(seed=1)
        state = play_out(seat.room.code, person(owner))
        assert state["outcome"]["winner"] == "O"
        own_machine.refresh_from_db()
        assert own_machine.n_removed == 1

    def test_a_resigned_match_does_not_affect_the_next(self) -> None:
        owner = user()
        own_machine, other = machine(Side.FIRST, owner=owner), machine(Side.SECOND)
        seat = take_over(own_machine, person(owner), "machine", machine=other.slug)
        play(seat, person(owner), "5")
        match_resign(code=seat.room.code, person=person(owner))
        after_first = (changed_boxes(own_machine), changed_boxes(other))
        state = room_reset(code=seat.room.code, person=person(owner))
        assert (state["ply"], state["learning"], state["seats"][0]["takes_over"]) == (0, None, True)
        match_resign(code=seat.room.code, person=person(owner))
        assert (changed_boxes(own_machine), changed_boxes(other)) == after_first, (
            "nothing was drawn in the second match"
        )
        assert list(own_machine.lessons.order_by("number").values_list("match__number", flat=True)) == [1, 2]

    @pytest.mark.parametrize("rule", [BoxRule(), RULE_WITHOUT_OPEN_BOXES])
    def test_an_unfinished_match_teaches_nothing(self, rule: BoxRule) -> None:
        owner = user()
        own_machine = machine_create(game=NC, side=Side.FIRST, name="Own", rule=rule, owner=owner)
        other = machine_create(game=NC, side=Side.SECOND, name="Other", rule=rule)
        unfinished = take_over(own_machine, person(owner), "machine", machine=other.slug)
        state = play(unfinished, person(owner), "5")
        play(unfinished, person(owner), state["legal_moves"][0])
        exhibition = open_exhibition(own_machine, other)
        make_steps(exhibition, 4)
        assert Draw.objects.count() == 8
        for learner in (own_machine, other):
            assert changed_boxes(learner) == {}
            learner.refresh_from_db()
            assert (learner.n_games, learner.n_lessons, learner.n_removed) == (0, 0, 0)
        # The next match learns from its own draws alone.
        seat = take_over(own_machine, person(owner), "machine", machine=other.slug)
        play_out(seat.room.code, person(owner))
        match = Match.objects.get(room=seat.room)
        for learner in (own_machine, other):
            readable = beads_learnt_by_hand(learner, match)
            assert stored_beads(learner, readable) == readable
            assert set(changed_boxes(learner)) <= set(readable)
            assert Lesson.objects.filter(machine=learner).count() == 1

    def test_empty_box_is_refilled_when_a_person_plays_from_it(self) -> None:
        owner = user()
        rule = BoxRule(when_empty=WhenEmpty.REFILL)
        own_machine = machine_create(game=NC, side=Side.FIRST, name="Own", rule=rule, owner=owner)
        Box.objects.filter(machine=own_machine, position=".........").update(beads=[0, 0, 0], start=[0, 0, 0])
        state = play(take_over(own_machine, person(owner)), person(owner), "5")
        assert Lesson.objects.get().kind == LessonKind.REFILL
        (draw,) = state["learning"]["draws"]
        assert (draw["refilled"], draw["by_hand"], draw["slot"], draw["move"]) == (True, True, 2, "5")
        assert ledger_errors() == []

    def test_person_plays_on_where_the_machine_would_resign(self) -> None:
        owner = user()
        own_machine = machine(Side.FIRST, "scroggs", owner=owner)
        Box.objects.filter(machine=own_machine, position=".........").update(beads=[0, 0, 0], start=[0, 0, 0])
        state = play(take_over(own_machine, person(owner)), person(owner), "5")
        (draw,) = state["learning"]["draws"]
        assert (draw["resigned"], draw["anything"], draw["slot"]) == (False, False, 2)
        assert [slot["probability"] for slot in draw["slots"]] == [0, 0, 0]
        assert state["status"] == "playing"

    def test_a_frozen_machine_learns_nothing_from_a_person(self) -> None:
        owner = user()
        own_machine = machine(Side.FIRST, owner=owner)
        Machine.objects.update(learns=False)
        state = play_out(take_over(own_machine, person(owner)).room.code, person(owner))
        assert changed_boxes(own_machine) == {}
        assert "frozen" in state["learning"]["lesson"]["sentence"]

    def test_copy_can_be_taken_over_without_touching_the_original(self) -> None:
        machines = house_machines()
        seat = room_create(
            person=guest(), game=NC, opponent="menace", takes_over="menace", side=Side.SECOND, fresh=True
        )
        assert seat.side is Side.SECOND
        play_out(seat.room.code, guest())
        copies = Machine.objects.filter(room=seat.room).order_by("side")
        assert [copy.copied_from for copy in copies] == [machines[Side.FIRST], machines[Side.SECOND]]
        assert [copy.n_games for copy in copies] == [1, 1]
        assert {changed_boxes(one) == {} for one in machines.values()} == {True}
        # After a swap of sides the person plays for the other copy.
        state = room_reset(code=seat.room.code, person=guest(), swap=True)
        assert [seat["takes_over"] for seat in state["seats"]] == [True, False]
        assert state["seats"][0]["machine"]["id"] == copies[0].pk
        assert Machine.objects.filter(room=seat.room).count() == 2

    def test_a_single_machine_cannot_swap(self) -> None:
        owner = user()
        seat = take_over(machine(Side.FIRST, owner=owner), person(owner))
        state = play_out(seat.room.code, person(owner))
        assert state["can_swap"] is False
        with pytest.raises(exceptions.CannotSwapError):
            room_reset(code=seat.room.code, person=person(owner), swap=True)

    @pytest.mark.parametrize(
        ("role", "fields", "error"),
        [
            ("owner", {}, None),
            ("staff", {}, None),
            ("outsider", {}, NotYourMachineError),
            ("guest", {}, NotYourMachineError),
            ("owner", {"is_public": False}, None),
            ("outsider", {"is_public": False}, MachineNotFoundError),
        ],
    )
    def test_taking_over_needs_the_permission_to_train(
        self, role: str, fields: dict[str, Any], error: type[exceptions.PlayError] | None
    ) -> None:
        people = {name: user(name) for name in ("owner", "outsider")} | {"staff": user("staff", is_staff=True)}
        own_machine = machine(Side.FIRST, owner=people["owner"], **fields)
        caller = guest() if role == "guest" else person(people[role])
        if error is None:
            assert take_over(own_machine, caller).side is Side.FIRST
            return
        with pytest.raises(error), transaction.atomic():
            take_over(own_machine, caller)
        assert not Room.objects.exists()

    def test_only_staff_takes_over_house_machines(self) -> None:
        house_machines()
        options: dict[str, Any] = {"game": NC, "opponent": "random", "takes_over": "menace", "side": Side.FIRST}
        with pytest.raises(NotYourMachineError), transaction.atomic():
            room_create(person=guest(), **options)
        staff = person(user("staff", is_staff=True))
        assert room_create(person=staff, **options).side is Side.FIRST


class TestExhibition:
    @pytest.mark.parametrize("game", GAMES_WITH_BOXES)
    def test_exhibition_moves_one_ply_a_step_and_both_learn(self, game: str) -> None:
        first, second = (
            machine_create(game=game, side=side, name=f"M{side}", rule=RULE_WITHOUT_OPEN_BOXES) for side in Side
        )
        seat = open_exhibition(first, second)
        assert seat.side is None
        assert Match.objects.get().n_plies == 0
        state = room_view(seat.room)
        assert (state["exhibition"], state["status"], state["can_swap"]) == (True, "playing", False)
        assert [seat["kind"] for seat in state["seats"]] == ["machine", "machine"]
        number = 0
        while state["status"] == "playing":
            state = match_step(code=seat.room.code, person=guest(), ply=number)
            number += 1
            assert state["ply"] in (number, number - 1), "a step is one ply or a resignation"
        assert {draw["role"] for draw in state["learning"]["draws"]} == set(GAMES[game].presentation.layout.roles)
        match = Match.objects.get()
        for learner in (first, second):
            draws = list(Draw.objects.filter(machine=learner).order_by("ply"))
            assert draws[-1].slot is not None, "fresh boxes are never empty"
            readable = beads_learnt_by_hand(learner, match)
            assert stored_beads(learner, readable) == readable
        assert ledger_errors() == []

    def test_exhibition_runs_to_the_end_and_again_in_its_room(self) -> None:
        first, second = machine(Side.FIRST), machine(Side.SECOND)
        seat = open_exhibition(first, second)
        make_steps(seat, 2)
        state = step_to_the_end(seat)
        assert state["status"] == "finished"
        with pytest.raises(exceptions.MatchFinishedError):
            make_steps(seat, 1)
        state = room_reset(code=seat.room.code, person=guest())
        assert (state["number"], state["ply"], state["status"], state["learning"]) == (2, 0, "playing", None)
        step_to_the_end(seat)
        assert [learner.lessons.filter(kind="match").count() for learner in (first, second)] == [2, 2]

    def test_the_same_seed_shows_the_same_match_by_steps_and_at_once(self) -> None:
        games = []
        for at_once in (False, True):
            seat = open_exhibition("random", "win-block")
            Match.objects.filter(room=seat.room).update(seed=5)
            if not at_once:
                make_steps(seat, 3)
            games.append([move["move"] for move in step_to_the_end(seat)["moves"]])
        assert games[0] == games[1]

    def test_a_machine_without_beads_resigns_when_it_has_to_move(self) -> None:
        first = machine(Side.FIRST, "scroggs")
        Box.objects.filter(machine=first, position=".........").update(beads=[0, 0, 0], start=[0, 0, 0])
        state = make_steps(open_exhibition(first, "random"), 1)
        assert (state["ply"], state["outcome"]["termination"]) == (0, "empty_box")

    def test_copies_learn_and_the_originals_do_not(self) -> None:
        machines = house_machines()
        seat = open_exhibition("menace", "menace", fresh=True)
        step_to_the_end(seat)
        room_reset(code=seat.room.code, person=guest())
        step_to_the_end(seat)
        copies = Machine.objects.filter(room=seat.room)
        assert [copy.n_games for copy in copies] == [2, 2]
        assert [changed_boxes(one) for one in machines.values()] == [{}, {}]

    def test_only_the_owner_exhibits_a_private_machine(self) -> None:
        owner = user()
        own_machine = machine(Side.FIRST, owner=owner, is_public=False)
        with pytest.raises(MachineNotFoundError), transaction.atomic():
            open_exhibition(own_machine, "random")
        assert open_exhibition(own_machine, "random", person(owner)).side is None

    def test_the_host_steps_by_account_session_or_token(self) -> None:
        account = user()
        guest_exhibition, account_exhibition = (
            open_exhibition("random", "random"),
            open_exhibition("random", "random", person(account)),
        )
        assert make_steps(guest_exhibition, 1, guest())["ply"] == 1
        assert make_steps(guest_exhibition, 1, Principal(token=guest_exhibition.token))["ply"] == 2
        assert make_steps(account_exhibition, 1, person(account))["ply"] == 1
        assert make_steps(account_exhibition, 1, Principal(token=account_exhibition.token))["ply"] == 2
        for player in (
            stranger(),
            Principal(),
            Principal(token="guessed"),
            person(user("outsider")),
            Principal(token=guest_exhibition.token),
        ):
            with pytest.raises(exceptions.NotTheHostError):
                make_steps(account_exhibition, 1, player)
            with pytest.raises(exceptions.NotTheHostError):
                room_reset(code=account_exhibition.room.code, person=player)
        with pytest.raises(exceptions.NotAPlayerError):
            match_resign(code=account_exhibition.room.code, person=person(account))
        with pytest.raises(exceptions.NotAPlayerError):
            match_play_move(code=account_exhibition.room.code, person=person(account), move="5")
        with pytest.raises(exceptions.RoomFullError):
            room_join(code=account_exhibition.room.code, person=stranger())

    def test_a_guest_who_signs_up_stays_the_host(self) -> None:
        seat, account = open_exhibition("random", "random"), user()
        seats_claim(user_id=account.pk, name="owner", guest=guest().guest)  # type: ignore[arg-type]
        assert make_steps(seat, 1, person(account))["ply"] == 1
        with pytest.raises(exceptions.NotTheHostError):
            make_steps(seat, 1, guest())

    def test_a_step_sent_twice_is_made_once(self) -> None:
        seat = open_exhibition("random", "random")
        match_step(code=seat.room.code, person=guest(), ply=0)
        with pytest.raises(exceptions.StalePlyError):
            match_step(code=seat.room.code, person=guest(), ply=0)
        assert Ply.objects.count() == 1

    def test_a_match_with_a_person_cannot_be_stepped(self) -> None:
        seat = room_create(person=guest(), game=NC, opponent="random", side=Side.FIRST)
        with pytest.raises(exceptions.NotAnExhibitionError):
            make_steps(seat, 1)

    def test_the_state_takes_a_fixed_number_of_queries(self, django_assert_num_queries: Any) -> None:
        short, long = (open_exhibition(machine(Side.FIRST), machine(Side.SECOND)) for _ in range(2))
        make_steps(short, 2)
        step_to_the_end(long)
        with django_assert_num_queries(4):
            room_view(short.room)
        with django_assert_num_queries(5):
            room_view(long.room)


def reread_machine(learner: Machine) -> Machine:
    learner.refresh_from_db()
    return learner


SECOND = object()
CONTRADICTORY_REQUESTS: dict[str, tuple[dict[str, Any], str]] = {
    "nobody": ({}, "opponent"),
    "only a first player": ({"first": "random"}, "second"),
    "only a second player": ({"second": "random"}, "first"),
    "both and an opponent": ({"first": "random", "second": "random", "opponent": "random"}, "first, second"),
    "both and a seat": ({"first": "random", "second": "random", "takes_over": "menace"}, "first, second"),
    "a person in an exhibition": ({"first": "random", "second": "human"}, "second"),
    "a machine without its name": ({"first": "machine", "second": "random"}, "machine"),
    "a seat that learns from nothing": ({"opponent": "random", "takes_over": "perfect"}, "takes_over"),
    "a person's seat": ({"opponent": "random", "takes_over": "human"}, "takes_over"),
    "taking over against a friend": ({"opponent": "human", "takes_over": "menace"}, "takes_over"),
}


@pytest.mark.parametrize("case", CONTRADICTORY_REQUESTS)
def test_contradictory_request_is_refused_by_field(case: str) -> None:
    house_machines()
    options, field = CONTRADICTORY_REQUESTS[case]
    with pytest.raises(exceptions.MalformedError, match=f"^{field}:"), transaction.atomic():
        room_create(person=guest(), game=NC, **options)
    assert not Room.objects.exists()


def test_unknown_machines_and_wrong_sides_are_refused() -> None:
    first = machine(Side.FIRST)
    for options, error in (
        ({"first": "no-such", "second": "random"}, MachineNotFoundError),
        ({"first": "random", "second": str(first.pk)}, MachineWrongSideError),
        ({"opponent": "random", "takes_over": "no-such"}, MachineNotFoundError),
    ):
        with pytest.raises(error), transaction.atomic():
            room_create(person=guest(), game=NC, **options)
    assert not Room.objects.exists()


class TestDatabase:
    def assert_refused(self, name: str, write: Callable[[], Any]) -> None:
        with pytest.raises(IntegrityError, match=name):
            write()

    def test_a_machine_cannot_take_over_a_seat(self) -> None:
        open_exhibition("random", "random")
        self.assert_refused("seat_taken_over_by_a_person", lambda: Seat.objects.update(takes_over="machine"))

    def test_a_room_has_an_opponent_or_two_players(self) -> None:
        name = "room_asks_for_an_opponent_or_for_both"
        self.assert_refused(
            name, lambda: Room.objects.create(game=NC, opponent="random", first="random", second="random")
        )

    def test_a_room_with_players_has_both(self) -> None:
        name = "room_asks_for_an_opponent_or_for_both"
        self.assert_refused(name, lambda: Room.objects.create(game=NC, first="random"))

    def test_a_room_has_an_opponent_or_players(self) -> None:
        self.assert_refused("room_asks_for_an_opponent_or_for_both", lambda: Room.objects.create(game=NC))


@pytest.mark.django_db(transaction=True)
def test_two_machines_in_many_rooms_learn_without_deadlock() -> None:
    """Each match locks both machines, which open and refill boxes during the match and learn at its end."""
    owner = user()
    rule = BoxRule(initial=(1,), when_empty=WhenEmpty.REFILL, open_boxes=OpenBoxes.WHEN_MET)
    # The machine with the lower id plays second in one pair and first in the other, to test both orders of locking.
    pairs = []
    for sides in ((Side.FIRST, Side.SECOND), (Side.SECOND, Side.FIRST)):
        machine_by_side = {side: machine_create(game=NC, side=side, name="M", rule=rule, owner=owner) for side in sides}
        pairs.append((machine_by_side[Side.FIRST], machine_by_side[Side.SECOND]))
    faults: list[BaseException] = []
    start = threading.Barrier(8)

    def thread_of(work: Callable[[], None]) -> threading.Thread:
        def run() -> None:
            try:
                start.wait(HANG_S)
                for _ in range(4):
                    work()
            except BaseException as error:
                faults.append(error)
            finally:
                connection.close()

        return threading.Thread(target=run)

    def exhibition_work(pair: tuple[Machine, Machine]) -> Callable[[], None]:
        return lambda: (step_to_the_end(open_exhibition(*pair, person(owner)), person(owner)), None)[1]

    def match_work(pair: tuple[Machine, Machine], side: Side) -> Callable[[], None]:
        def work() -> None:
            seat = take_over(pair[side], person(owner), "machine", machine=str(pair[side.other].pk))
            play_out(seat.room.code, person(owner))

        return work

    threads = [
        thread_of(work)
        for pair in pairs
        for work in (
            exhibition_work(pair),
            exhibition_work(pair),
            match_work(pair, Side.FIRST),
            match_work(pair, Side.SECOND),
        )
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert faults == []
    for learner in Machine.objects.all():
        assert learner.n_games == learner.lessons.filter(kind="match").count() == 16
        assert list(learner.lessons.order_by("number").values_list("number", flat=True)) == list(
            range(1, learner.n_lessons + 1)
        )
    assert ledger_errors() == []
