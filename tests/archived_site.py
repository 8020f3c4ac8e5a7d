"""The site that :mod:`tests.archiving` archives: a step plays, audits, and prints its counts and the time."""

from __future__ import annotations

import json
import sys

import django
from django.core.management import call_command
from django.db import connection


def main(step: str) -> None:
    """Run the step ``begin``, ``play`` or ``count``. ``begin`` first makes the tables, and ``count`` plays no match."""
    django.setup()
    from beadbox.rules.outcome import Side
    from games.live.play import match_resign
    from games.live.rooms import room_create
    from games.models import Match
    from learning.models import Lesson
    from tests.factories import NC, guest, house_machines

    if step == "begin":
        call_command("migrate", verbosity=0)
        house_machines()
    if step != "count":
        for _ in range(20):
            room = room_create(person=guest(), game=NC, opponent="menace", side=Side.FIRST).room
            match_resign(code=room.code, person=guest())
    call_command("audit", stdout=sys.stderr)
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")
        now = cursor.fetchone()[0].isoformat(" ", "milliseconds")
    sys.stdout.write(json.dumps([Match.objects.count(), Lesson.objects.count(), now]))


if __name__ == "__main__":
    main(sys.argv[1])
