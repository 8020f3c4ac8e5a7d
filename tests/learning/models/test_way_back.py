"""Migrations backwards: a sentence names data that the older tables cannot hold, and nothing is lost."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from learning.models import Machine, Tournament
from learning.services.machines import machine_create, machine_delete
from learning.services.tournaments import tournament_start
from tests.factories import user
from tests.outage import Outage


def migrate_back(number: str) -> None:
    call_command("migrate", "learning", number, verbosity=0)


@pytest.mark.soak
def test_backward_migrations_name_the_data_that_blocks_them(outage: Outage) -> None:
    machines = [machine_create(game="romgon", side=None, name=name) for name in ("Quiet", "Loud")]
    tournament_start(
        user=None,
        name="Spring",
        entries=[machine.slug for machine in machines],
        games=2,
        seed=1,
        format="round-robin",
        enqueue=False,
    )
    with pytest.raises(CommandError, match=r"^Before this migration .* there are 1: Spring\. Delete them first"):
        migrate_back("0006")
    call_command("migrate", verbosity=0)
    Tournament.objects.all().delete()
    with pytest.raises(CommandError, match=r"^Before this migration no machine kept values, and 2 do: .*Delete them"):
        migrate_back("0006")
    call_command("migrate", verbosity=0)
    assert Machine.objects.count() == 2
    for machine in machines:
        machine_delete(user=user(f"staff{machine.pk}", is_staff=True), machine_id=machine.pk)
    migrate_back("0006")
    assert "learning_value" not in connection.introspection.table_names()
    call_command("migrate", verbosity=0)
    assert machine_create(game="romgon", side=None, name="Again").pk
