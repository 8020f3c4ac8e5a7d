"""Training asks for all values that a machine has on a board, so there is an index for that."""

from django.db import migrations, models
from django.db.models import Func


class Migration(migrations.Migration):
    dependencies = [
        ("learning", "0019_thoughts"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="value",
            index=models.Index(
                Func(
                    Func("key", models.Value("#"), models.Value(2), function="split_part"),
                    "machine_id",
                    function="hashtextextended",
                ),
                name="value_board",
            ),
        ),
    ]
