"""Index the rooms of an address by their last change, so that open rooms are counted without reading all rooms.

One index replaces two: Django had also made an index for searches by the beginning of a text, which no query uses.
"""

from django.db import migrations, models

from games.transport.migration_operations import index_concurrently

OLD = "games_room_opened_from_cce6bd1f"


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("games", "0011_seats_of_somebody_in_order")]

    operations = [
        *index_concurrently("room", models.Index(fields=["opened_from", "changed_at"], name="room_opened_from")),
        # The schema editor would block all writes while it drops the indexes.
        migrations.SeparateDatabaseAndState(
            [
                migrations.RunSQL(
                    f"DROP INDEX CONCURRENTLY IF EXISTS {OLD}",
                    f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {OLD} ON games_room (opened_from)",
                ),
                migrations.RunSQL(
                    f"DROP INDEX CONCURRENTLY IF EXISTS {OLD}_like",
                    f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {OLD}_like"
                    " ON games_room (opened_from varchar_pattern_ops)",
                ),
            ],
            [
                migrations.AlterField(
                    "room",
                    "opened_from",
                    models.CharField(
                        blank=True,
                        editable=False,
                        help_text="A keyed hash of the address that it was opened from, for as long as that counts.",
                        max_length=32,
                    ),
                )
            ],
        ),
    ]
