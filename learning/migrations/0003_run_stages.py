from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("learning", "0002_lab")]

    operations = [
        migrations.RemoveConstraint(
            model_name="trainingrun",
            name="run_opponent_machine",
        ),
        migrations.RemoveField(
            model_name="trainingrun",
            name="opponent",
        ),
        migrations.RemoveField(
            model_name="trainingrun",
            name="opponent_learns",
        ),
        migrations.RemoveField(
            model_name="trainingrun",
            name="opponent_machine",
        ),
    ]
