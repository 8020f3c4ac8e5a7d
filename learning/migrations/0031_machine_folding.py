"""Which machines are half folded is found without reading all of them."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("learning", "0030_jobs_request_id")]

    operations = [
        AddIndexConcurrently(
            model_name="machine",
            index=models.Index(condition=models.Q(("is_folding", True)), fields=["id"], name="machine_folding"),
        ),
    ]
