"""The machines of a class are found without reading all machines."""

from django.db import migrations, models

from games.transport.migration_operations import index_concurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("learning", "0039_classes")]

    operations = [
        *index_concurrently(
            "machine",
            models.Index(
                condition=models.Q(("classroom__isnull", False)), fields=["classroom"], name="machine_classroom"
            ),
        ),
    ]
