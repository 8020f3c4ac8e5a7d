"""How often a slot was played is its visits: a drawn game is something else."""

from django.db import migrations, models

import learning.models


class Migration(migrations.Migration):
    dependencies = [("learning", "0013_machine_rule_json")]

    operations = [
        migrations.RemoveConstraint(model_name="box", name="box_draws_not_negative"),
        migrations.RemoveConstraint(model_name="box", name="box_draws_aligned"),
        migrations.RenameField(model_name="box", old_name="draws", new_name="visits"),
        migrations.AddConstraint(
            model_name="box",
            constraint=models.CheckConstraint(
                condition=learning.models.NoneNegative("visits"), name="box_visits_not_negative"
            ),
        ),
        migrations.AddConstraint(
            model_name="box",
            constraint=models.CheckConstraint(
                condition=learning.models.SameLength("visits", "start"), name="box_visits_aligned"
            ),
        ),
    ]
