"""Let a move update the rows of its room and match in place: their pages keep free space, and no index changes.

Drops indexes that are the beginning of another index, and indexes that no query uses.
"""

import django.db.models.deletion
import games.models
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0008_indexes_nobody_reads"),
    ]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE games_room SET (fillfactor = 80); ALTER TABLE games_match SET (fillfactor = 80)",
            "ALTER TABLE games_room RESET (fillfactor); ALTER TABLE games_match RESET (fillfactor)",
        ),
        # Drop it by SQL, because the schema editor would also drop ``match_one_open``, a unique index of this column.
        migrations.SeparateDatabaseAndState(
            [
                migrations.RunSQL(
                    "DROP INDEX games_match_room_id_f566081b",
                    "CREATE INDEX games_match_room_id_f566081b ON games_match (room_id)",
                )
            ],
            [
                migrations.AlterField(
                    model_name="match",
                    name="room",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="matches",
                        to="games.room",
                    ),
                ),
            ],
        ),
        migrations.AlterField(
            model_name="match",
            name="termination",
            field=models.SlugField(blank=True, db_index=False, max_length=40),
        ),
        migrations.AlterField(
            model_name="ply",
            name="match",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="plies", to="games.match"
            ),
        ),
        migrations.AlterField(
            model_name="room",
            name="changed_at",
            field=models.DateTimeField(default=games.models.this_minute, editable=False, help_text="To the minute."),
        ),
        migrations.AlterField(
            model_name="room",
            name="game",
            field=models.SlugField(db_index=False, max_length=40),
        ),
        migrations.AlterField(
            model_name="seat",
            name="match",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="seats", to="games.match"
            ),
        ),
    ]
