"""The occupants of a match are found and locked by reading the match's rows alone, whatever other rows exist."""

from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from games.live.store import live_match_load, match_latest
from games.models import Match, Seat
from learning.kinds.live import occupants_fetch
from learning.models import Machine, MachineSeat
from tests.factories import machine, room
from tests.plans import rows_read

N_OTHERS = 3_000
"""Other machines, and finished matches: half of them by the machine played, half by the others."""


@pytest.mark.django_db
def test_locking_the_occupants_reads_no_other_rows() -> None:
    popular_machine = machine()
    fields = {name: getattr(popular_machine, name) for name in ("game", "side", "rule_json")}
    others = Machine.objects.bulk_create(Machine(**fields, name=f"M{n}") for n in range(N_OTHERS))
    match = match_latest(room("machine", machine=popular_machine.slug).room)
    live = live_match_load(match)
    finished_fields = {"status": "finished", "termination": "resigned", "finished_at": match.created_at}
    matches = Match.objects.bulk_create(
        Match(room=match.room, number=2 + n, seed=n, position=match.position, **finished_fields)
        for n in range(N_OTHERS)
    )
    seats = Seat.objects.bulk_create(Seat(match=one, side=0, guest=UUID(int=one.pk), name="x") for one in matches)
    MachineSeat.objects.bulk_create(
        MachineSeat(seat=seat, machine=popular_machine if n % 2 else others[n]) for n, seat in enumerate(seats)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    with CaptureQueriesContext(connection) as queries:
        occupants_fetch([seat for seat, _ in live.automated_seats], lock=True)
    n_rows_read = rows_read(queries[0]["sql"], "learning_machine", "learning_machineseat")
    assert all(0 < n_rows <= 2 for n_rows in n_rows_read.values()), n_rows_read
