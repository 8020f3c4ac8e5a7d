"""The machines of a class are found without reading all machines; the check of their owner holds for every row."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models

from games.transport.migration_operations import index_concurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("learning", "0039_classes")]

    operations = [
        ValidateConstraint("machine", "machine_of_a_class"),
        *index_concurrently(
            "machine",
            models.Index(
                condition=models.Q(("classroom__isnull", False)), fields=["classroom"], name="machine_classroom"
            ),
        ),
    ]
