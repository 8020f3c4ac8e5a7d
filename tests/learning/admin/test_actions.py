"""What the staff does from the admin's lists: start and stop training, end tokens; and who of them may."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission

from games.exceptions import TokenRevokedError
from games.models import ApiToken
from games.services_tokens import token_make, token_read
from learning.admin.machines import ACTION_GAMES
from learning.models import TrainingRun
from learning.services.runs import Stage, training_run_start
from tests.factories import machine, user

pytestmark = pytest.mark.django_db


def act(client: Any, model: str, action: str, *rows: Any) -> Any:
    chosen = {"action": action, "_selected_action": [row.pk for row in rows]}
    return client.post(f"/admin/{model}/", chosen, follow=True)


@pytest.fixture
def staff(client: Any) -> Any:
    client.force_login(user("staff", is_staff=True, is_superuser=True))
    return client


def test_machines_are_trained_from_their_list(staff: Any) -> None:
    learner, frozen = machine(name="Fritz"), machine(name="Frost", learns=False)
    page = act(staff, "learning/machine", "train", learner, frozen).content.decode()
    run = TrainingRun.objects.get()
    assert (run.machine, run.n_games, run.started_by.username) == (learner, ACTION_GAMES, "staff")
    assert "The training of Fritz has been asked for." in page
    assert "Frost is frozen" in page


def test_runs_show_how_far_they_are_and_are_stopped_from_their_list(staff: Any) -> None:
    run = training_run_start(machine=machine().slug, stages=[Stage("random", 10)], seed=1, enqueue=False)
    TrainingRun.objects.update(games_done=4, n_wins=4)
    page = act(staff, "learning/trainingrun", "cancel", run).content.decode()
    run.refresh_from_db()
    assert run.cancel_requested
    assert 'value="40"' in page
    assert "1 of 1 were asked to stop" in page


def test_tokens_are_ended_from_their_list_and_their_hash_is_not_shown(staff: Any) -> None:
    token, text = token_make(user=user(), name="robot", scopes=["read"], lifetime=None)
    assert token.sha256 not in staff.get(f"/admin/games/apitoken/{token.pk}/change/").content.decode()
    assert "1 do not work any more" in act(staff, "games/apitoken", "revoke", token).content.decode()
    with pytest.raises(TokenRevokedError):
        token_read(text=text)


def test_staff_who_may_only_look_start_stop_and_end_nothing(client: Any) -> None:
    reader = user("reader", is_staff=True)
    reader.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client.force_login(reader)
    learner = machine()
    run = training_run_start(machine=learner.slug, stages=[Stage("random", 10)], seed=1, enqueue=False)
    token, _ = token_make(user=reader, name="robot", scopes=["read"], lifetime=None)
    act(client, "learning/machine", "train", learner)
    act(client, "learning/trainingrun", "cancel", run)
    act(client, "games/apitoken", "revoke", token)
    run.refresh_from_db()
    assert (TrainingRun.objects.count(), run.cancel_requested) == (1, False)
    assert ApiToken.objects.get().revoked_at is None
