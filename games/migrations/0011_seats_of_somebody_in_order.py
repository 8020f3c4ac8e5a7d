"""Index the seats of a player in the order of matches, so that retention finds the oldest matches directly.

Two indexes replace the two indexes that are their beginnings. Neither contains free seats.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from games.transport.migration_operations import index_concurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("games", "0010_address_blocks"),
    ]

    operations = [
        *index_concurrently(
            "seat",
            models.Index(fields=["user", "match"], name="seat_user_match", condition=models.Q(("user__isnull", False))),
        ),
        *index_concurrently(
            "seat",
            models.Index(
                fields=["guest", "match"], name="seat_guest_match", condition=models.Q(("guest__isnull", False))
            ),
        ),
        # The schema editor would block all writes while it drops the indexes.
        migrations.SeparateDatabaseAndState(
            [
                migrations.RunSQL(
                    "DROP INDEX CONCURRENTLY IF EXISTS games_seat_user_id_9fbc01bf",
                    "CREATE INDEX CONCURRENTLY IF NOT EXISTS games_seat_user_id_9fbc01bf ON games_seat (user_id)",
                )
            ],
            [
                migrations.AlterField(
                    "seat",
                    "user",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="seats",
                        to=settings.AUTH_USER_MODEL,
                    ),
                )
            ],
        ),
        migrations.SeparateDatabaseAndState(
            [
                migrations.RunSQL(
                    "DROP INDEX CONCURRENTLY IF EXISTS games_seat_guest_17a6cfa8",
                    "CREATE INDEX CONCURRENTLY IF NOT EXISTS games_seat_guest_17a6cfa8 ON games_seat (guest)",
                )
            ],
            [migrations.AlterField("seat", "guest", models.UUIDField(blank=True, editable=False, null=True))],
        ),
    ]
