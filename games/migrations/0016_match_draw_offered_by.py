from django.db import migrations, models

from games.transport.migration_operations import LOCK_TIMEOUT


class Migration(migrations.Migration):
    dependencies = [("games", "0015_room_links")]

    operations = [
        LOCK_TIMEOUT,
        migrations.AddField(
            model_name="match",
            name="draw_offered_by",
            field=models.SmallIntegerField(
                blank=True,
                choices=[(0, "first"), (1, "second")],
                editable=False,
                help_text="The side that offers a draw, until the next move.",
                null=True,
            ),
        ),
    ]
