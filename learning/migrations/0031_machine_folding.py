"""Which machines are half folded is found without reading all of them."""

from django.db import migrations, models

from games.transport.migration_operations import index_concurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("learning", "0030_jobs_request_id")]

    operations = [
        *index_concurrently(
            "machine", models.Index(condition=models.Q(("is_folding", True)), fields=["id"], name="machine_folding")
        ),
    ]
