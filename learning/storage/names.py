"""Removal of the names of private machines from rows that outlive the machines."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection

from games.models import HUMAN

DELETED_MACHINE_NAME = "A deleted machine"

STOPPED_TOURNAMENT_TEXT = "It had to stop, and a deleted machine took part in it."

NAMES_FORGET_SQL = """
    WITH private AS MATERIALIZED (SELECT id FROM learning_machine WHERE id = ANY(%(machines)s) AND NOT is_public),
    stages AS (
        UPDATE learning_runstage SET opponent_name = '' WHERE opponent_machine_id IN (SELECT id FROM private)
    ), entries AS (
        UPDATE learning_tournamententry SET name = %(gone)s WHERE machine_id IN (SELECT id FROM private)
    ), tournaments AS (
        UPDATE learning_tournament SET error = %(stopped)s WHERE error <> '' AND id IN (
            SELECT tournament_id FROM learning_tournamententry WHERE machine_id IN (SELECT id FROM private)
        )
    )
    UPDATE games_seat SET name = %(gone)s WHERE player <> %(human)s AND id IN (
        SELECT seat_id FROM learning_machineseat WHERE machine_id IN (SELECT id FROM private)
    )"""
"""A single statement, which costs a retention transaction one round trip instead of four."""


def names_forget(machines: Sequence[int]) -> None:
    """Remove the names of the private ones among these machines from rows that remain after their deletion.

    Call this just before the deletion: only the machine's row says that the machine is private.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            NAMES_FORGET_SQL,
            {
                "machines": list(machines),
                "gone": DELETED_MACHINE_NAME,
                "stopped": STOPPED_TOURNAMENT_TEXT,
                "human": HUMAN,
            },
        )
