"""Which runs go on is found without reading all that there were."""

from django.db import migrations, models

from games.transport.migration_operations import index_concurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("learning", "0031_machine_folding")]

    operations = [
        *index_concurrently(
            "trainingrun",
            models.Index(condition=models.Q(("finished_at", None)), fields=["machine"], name="run_unfinished"),
        ),
    ]
