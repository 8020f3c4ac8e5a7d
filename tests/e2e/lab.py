"""Visits to every page and state of the lab; :mod:`tests.e2e.everywhere` has the rest of the site.

:func:`create_lab` creates the data once.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from django.conf import settings
from django.db import connection
from django.test import Client
from playwright.sync_api import BrowserContext, Page, expect

from beadbox.rules.outcome import Side
from learning.models import Box, JobStatus, Machine, Schedule, Tournament, TrainingRun
from learning.services.machines import machine_update
from learning.services.runs import Stage, training_run_start
from learning.services.schedules import Timing, schedule_create
from learning.services.tournaments import tournament_start
from learning.workers.pairings import PAIRINGS, claimable_pairings, pairing_play, tournament_play
from learning.workers.runs import RUNS, Pace, run_chunk
from tests.factories import guest, machine, play_out, room, trained_machine, user

if TYPE_CHECKING:  # conftest imports this module
    from tests.e2e.conftest import LiveSite, Watch

T = TypeVar("T")


def run_in_thread(make: Callable[[], T]) -> T:
    """Run a function that uses the database in another thread, because Playwright's event loop runs in this thread."""

    def call_and_close() -> T:
        try:
            return make()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(call_and_close).result()


def sign_in(context: BrowserContext, site: LiveSite, account: Any) -> None:
    """Give the browser a session of the account without visiting the log-in page."""
    client = Client()
    client.force_login(account)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": site.url}])


@dataclass
class Lab:
    """The data behind the lab's pages."""

    watch: Watch
    owner: Any
    machines: dict[str, Machine]
    runs: dict[str, TrainingRun]
    schedules: dict[str, Schedule]
    tournaments: dict[str, Tournament]

    @property
    def learner(self) -> Machine:
        return self.machines["learner"]

    @property
    def opening_box(self) -> Box:
        return self.learner.boxes.get(move_number=1)


def create_lab(watch: Watch, account: Any) -> Lab:
    """Create the data in another thread."""
    return run_in_thread(lambda: _create_lab(watch, account))


def _create_lab(watch: Watch, account: Any) -> Lab:
    learner = machine(
        Side.FIRST, owner=account, name="Mendel", description="It was taught by chance first, then by a perfect player."
    )
    long_name = "A second player whose long name has to be broken somewhere"
    second = machine(Side.SECOND, owner=account, name=long_name)
    busy = machine(Side.FIRST, owner=account, name="Busy", is_public=False)
    frozen = machine(Side.FIRST, owner=user("hopper"), name="Old hand")
    many = machine(Side.FIRST, "apl-notebook", owner=account, name="Thousands")
    machines = {"learner": learner, "second": second, "busy": busy, "frozen": frozen, "many": many}
    trained_machine(learner, 20_000)
    trained_machine(learner, 5_000, opponent="perfect")
    trained_machine(second, 3_000)
    trained_machine(frozen, 2_000)
    trained_machine(many, 20_000)
    seated_room = room("machine", guest(), Side.SECOND, machine=str(learner.pk))
    play_out(seated_room.room.code, guest())
    lab = Lab(
        watch,
        account,
        machines,
        _create_runs(machines),
        _create_schedules(account, machines),
        _create_tournaments(account, machines),
    )
    machine_update(user=frozen.owner, machine_id=frozen.pk, learns=False)
    return lab


def _create_runs(machines: dict[str, Machine]) -> dict[str, TrainingRun]:
    """Create a run in every state. Without a worker, unfinished runs keep their state."""
    learner, second, busy, frozen = (machines[name] for name in ("learner", "second", "busy", "frozen"))
    stages = [Stage("random", 10_000_000), Stage(str(second.pk), 90_000_000, learns=True)]
    running = training_run_start(machine=busy.slug, stages=stages, seed=5, enqueue=False)
    claimed_run = RUNS.claim(running.pk)
    assert claimed_run is not None
    for _ in range(2):
        claimed_run = run_chunk(claimed_run, Pace(2_000_000))
    queued = training_run_start(machine=second.slug, stages=[Stage("perfect", 1000)], seed=6, enqueue=False)
    finished, cancelled = learner.runs.order_by("pk")
    failed = frozen.runs.get()
    error = "ValueError: these beads do not fit the boxes of the rule"
    TrainingRun.objects.filter(pk=cancelled.pk).update(status=JobStatus.CANCELLED, n_games=9_000)
    TrainingRun.objects.filter(pk=failed.pk).update(status=JobStatus.FAILED, n_games=9_000, error=error)
    return {"finished": finished, "cancelled": cancelled, "failed": failed, "running": running, "queued": queued}


def _create_schedules(account: Any, machines: dict[str, Machine]) -> dict[str, Schedule]:
    learner, second = machines["learner"], machines["second"]
    every_six_hours = Timing(every=6, period="hours")
    nightly = Timing(crontab="30 2 * * 1,3,5")
    active = schedule_create(
        user=account, machine=learner.slug, stages=[Stage("random", 5000), Stage("perfect", 5000)], timing=nightly
    )
    paused = schedule_create(
        user=account, machine=second.slug, stages=[Stage("win-block", 10_000)], timing=every_six_hours, paused=True
    )
    Schedule.objects.filter(pk=active.pk).update(n_fired=3, last_run=learner.runs.order_by("pk")[0])
    Schedule.objects.filter(pk=paused.pk).update(note="Four runs were waiting already.")
    return {"active": active, "paused": paused}


def _create_tournaments(account: Any, machines: dict[str, Machine]) -> dict[str, Tournament]:
    entries = [machines[name].slug for name in ("learner", "second", "frozen")] + ["random", "win-block", "perfect"]
    common: dict[str, Any] = {"user": account, "games": 1000, "seed": 3, "enqueue": False}
    finished = tournament_start(entries=entries, **common)
    tournament_play(finished.pk)
    swiss = tournament_start(entries=entries, format="swiss", name="The winter cup", **common)
    tournament_play(swiss.pk)
    running = tournament_start(entries=entries, name="Still playing", **common)
    for pairing_id in claimable_pairings(running.pk)[:5]:
        pairing = PAIRINGS.claim(pairing_id)
        assert pairing is not None
        pairing_play(pairing)
    return {"finished": finished, "swiss": swiss, "running": running}


Visit = Callable[[Page, Lab], None]


def visit_address(address: str) -> Visit:
    """Visit a page; ``{learner}`` and other names of machines stand for their ids."""

    def visit(page: Page, lab: Lab) -> None:
        page.goto(address.format(**{name: machine.pk for name, machine in lab.machines.items()}))

    return visit


def visit_with_details_open(address: str) -> Visit:
    """Visit a page and open all of its ``details`` elements."""

    def visit(page: Page, lab: Lab) -> None:
        visit_address(address)(page, lab)
        page.evaluate("document.querySelectorAll('main details').forEach((details) => { details.open = true; })")

    return visit


def visit_refused_form(address: str, button: str, **fields: str) -> Visit:
    """Submit a form with invalid fields and the browser's own checks switched off."""

    def visit(page: Page, lab: Lab) -> None:
        lab.watch.allow("status: 400", "status of 400")
        visit_with_details_open(address)(page, lab)
        for field, value in fields.items():
            page.locator(f"#id_{field.replace('__', '-')}").fill(value)
        page.evaluate("document.querySelectorAll('form').forEach((form) => { form.noValidate = true; })")
        page.locator(button).click()
        expect(page.locator("main .errorlist, main .problem").first).to_be_visible()

    return visit


def submit_refused_rule(page: Page, lab: Lab) -> None:
    page.goto("/machines/new")
    page.locator("#rule-details summary").first.click()
    page.locator("#id_name").fill("Ada")
    page.locator("#id_floor").fill("9")
    page.locator("#id_initial").fill("4, 3")
    page.locator("#make").click()
    expect(page.locator(".errorlist").first).to_be_visible()


def change_rule(page: Page, lab: Lab) -> None:
    page.goto("/machines/new")
    page.locator("#rule-details summary").first.click()
    page.locator("#id_loss").fill("-2")
    page.locator("#id_loss").press("Tab")
    expect(page.locator("#own-rule-note")).to_be_visible()


def submit_refused_values(page: Page, lab: Lab) -> None:
    page.goto("/machines/new")
    page.get_by_label("Romgon", exact=True).check()
    page.locator("#rule-details summary").first.click()
    page.locator("#id_name").fill("Quentin")
    page.locator("#id_epsilon_floor").fill("0.3")
    page.locator("#make").click()
    expect(page.locator("#id_epsilon_floor_error")).to_be_visible()
    page.locator("#id_discount").fill("0.8")
    page.locator("#rule-details summary", has_text="Details").locator("visible=true").first.click()


def fill_in_curriculum(page: Page, lab: Lab) -> None:
    page.goto(f"/machines/{lab.learner.pk}/train")
    page.locator("#stage-more").click()
    page.locator("#stages select").nth(1).select_option(str(lab.machines["second"].pk))
    page.locator("#stages [type=checkbox]").nth(1).check()


def visit_run(state: str) -> Visit:
    def visit(page: Page, lab: Lab) -> None:
        page.goto(f"/runs/{lab.runs[state].pk}")
        expect(page.locator(".curve-legend li, .curve-none")).not_to_have_count(0)

    return visit


def visit_run_with_samples(page: Page, lab: Lab) -> None:
    visit_run("finished")(page, lab)
    page.locator("#in-training").check()
    page.locator("#opponent").select_option("perfect")
    expect(page.locator(".curve-legend li")).to_have_count(6)


def visit_run_with_table(page: Page, lab: Lab) -> None:
    visit_run("finished")(page, lab)
    page.locator("details summary").last.click()


def visit_comparison(page: Page, lab: Lab) -> None:
    machines = [lab.machines[name].pk for name in ("learner", "second", "frozen", "many")]
    page.goto("/machines/compare?" + "&".join(f"machine={pk}" for pk in machines))
    expect(page.locator(".curve-legend li")).to_have_count(4)


def visit_gallery(query: str, name: str = "learner") -> Visit:
    def visit(page: Page, lab: Lab) -> None:
        page.goto(f"/machines/{lab.machines[name].pk}/boxes{query}")
        expect(page.locator(".wall-box:visible, #none:visible").first).to_be_visible()

    return visit


def visit_past_gallery(page: Page, lab: Lab) -> None:
    visit_gallery("")(page, lab)
    page.locator("#time-back").click()
    expect(page.locator("#time-words")).to_contain_text(": step ")


def visit_box(page: Page, lab: Lab) -> None:
    page.goto(lab.opening_box.get_absolute_url())
    expect(page.locator("#matchbox > svg")).to_be_visible()


def visit_why(position: str) -> Visit:
    def visit(page: Page, lab: Lab) -> None:
        lab.watch.allow("status: 404", "status of 404")
        page.goto(f"/machines/{lab.learner.pk}/why?position={position}")
        expect(page.locator("#board svg")).to_be_visible()

    return visit


def visit_schedule(state: str) -> Visit:
    return lambda page, lab: discard(page.goto(f"/schedules/{lab.schedules[state].pk}"))


def submit_refused_schedule(page: Page, lab: Lab) -> None:
    lab.watch.allow("status: 400", "status of 400")
    page.goto(f"/machines/{lab.learner.pk}/schedule")
    page.locator("[name=kind][value=crontab]").check()
    page.locator("#id_crontab").fill("every day at noon")
    page.locator("#save").click()
    expect(page.locator("main .problem, .errorlist, .notes .error").first).to_be_visible()


def visit_tournament(state: str) -> Visit:
    def visit(page: Page, lab: Lab) -> None:
        page.goto(lab.tournaments[state].get_absolute_url())
        expect(page.locator("#standings tbody tr")).to_have_count(6)
        page.locator("#pairings-details summary").click()

    return visit


def import_broken_file(page: Page, lab: Lab) -> None:
    lab.watch.allow("status: 400", "status of 400")
    page.goto("/machines/import")
    broken = b'{"format": "beadbox-machine", "version": 1, "game": "noughts-and-crosses", "boxes": "none"}'
    page.locator("#id_file").set_input_files({"name": "it.json", "mimeType": "application/json", "buffer": broken})
    page.locator("#import").click()
    expect(page.locator("#id_file_error")).to_be_visible()


def create_token(page: Page, lab: Lab) -> None:
    page.goto("/account/tokens")
    page.locator("#id_name").fill("My notebook")
    page.locator("main form [type=checkbox]").first.check()
    page.get_by_role("button", name="Make a token").click()
    expect(page.locator("#made")).to_be_visible()


def visit_api_docs(page: Page, lab: Lab) -> None:
    page.goto("/api/docs")
    expect(page.get_by_role("heading", name="Beadbox")).to_be_visible()


def visit_foreign_machine(page: Page, lab: Lab) -> None:
    lab.watch.allow("status: 403", "status of 403")
    page.goto(f"/machines/{lab.machines['frozen'].pk}/edit")


def discard(_: object) -> None:
    """Discard a value, so that a lambda can be a visit."""


EMPTY_LAB_ADDRESSES: dict[str, str] = {
    "machines": "/machines",
    "schedules": "/schedules",
    "tournaments": "/tournaments",
    "tournament-new": "/tournaments/new",
    "compare": "/machines/compare",
    "tokens": "/account/tokens",
}
"""Addresses of pages for an account without any data."""

LAB_STATES: dict[str, Visit] = {
    "machines": visit_address("/machines"),
    "machine-new": visit_address("/machines/new"),
    "machine-new-rule": change_rule,
    "machine-new-refused": submit_refused_rule,
    "machine-new-values": submit_refused_values,
    "machine-own": visit_address("/machines/{learner}"),
    "machine-training": visit_address("/machines/{busy}"),
    "machine-frozen": visit_address("/machines/{frozen}"),
    "machine-edit": visit_address("/machines/{learner}/edit"),
    "machine-edit-refused": visit_refused_form("/machines/{learner}/edit", "#save", name=""),
    "machine-reset": visit_address("/machines/{learner}/reset"),
    "machine-delete": visit_address("/machines/{learner}/delete"),
    "train": visit_address("/machines/{learner}/train"),
    "train-curriculum": fill_in_curriculum,
    "train-refused": visit_refused_form("/machines/{learner}/train", "#begin", stage__0__games="0"),
    "run-queued": visit_run("queued"),
    "run-running": visit_run("running"),
    "run-finished": visit_run("finished"),
    "run-sampled": visit_run_with_samples,
    "run-table": visit_run_with_table,
    "run-cancelled": visit_run("cancelled"),
    "run-failed": visit_run("failed"),
    "compare": visit_comparison,
    "gallery": visit_gallery(""),
    "gallery-visited": visit_gallery("?only=visited"),
    "gallery-mastered": visit_gallery("?only=mastered"),
    "gallery-none": visit_gallery("?only=emptied&move=1"),
    "gallery-past": visit_past_gallery,
    "gallery-many": visit_gallery("?only=drawn", "many"),
    "box": visit_box,
    "why": visit_why(""),
    "why-turned": visit_why("....O..X."),
    "why-other-side": visit_why("X........"),
    "why-over": visit_why("XXXOO...."),
    "why-nonsense": visit_why("elephants"),
    "schedules": visit_address("/schedules"),
    "schedule-new": visit_address("/machines/{learner}/schedule"),
    "schedule-refused": submit_refused_schedule,
    "schedule": visit_schedule("active"),
    "schedule-paused": visit_schedule("paused"),
    "tournaments": visit_address("/tournaments"),
    "tournament-new": visit_with_details_open("/tournaments/new"),
    "tournament-refused": visit_refused_form("/tournaments/new", "#begin"),
    "tournament-running": visit_tournament("running"),
    "tournament-finished": visit_tournament("finished"),
    "tournament-swiss": visit_tournament("swiss"),
    "print": visit_address("/machines/{learner}/print"),
    "print-refused": visit_refused_form("/machines/{learner}/print", "#print", width="3"),
    "import": visit_with_details_open("/machines/import"),
    "import-refused": import_broken_file,
    "tokens": visit_address("/account/tokens"),
    "token-made": create_token,
    "not-yours": visit_foreign_machine,
    "api-docs": visit_api_docs,
}
