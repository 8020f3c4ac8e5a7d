"""The machines of a shared link are found without reading all machines."""

from django.db import migrations, models

from games.transport.migration_operations import index_concurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("learning", "0036_tournament_format_words")]

    operations = [
        *index_concurrently(
            "machine",
            models.Index(condition=models.Q(("share__isnull", False)), fields=["share"], name="machine_share"),
        ),
    ]
