"""How far a machine looked ahead is kept with each of its moves: the time may run out."""

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def depths_of_rules(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Until now every search went as far as the rule says, which says nothing where it is as usual."""
    for machine in apps.get_model("learning", "Machine").objects.filter(thoughts__isnull=False).distinct():
        machine.thoughts.update(depth=machine.rule_json.get("play_depth", 2))


class Migration(migrations.Migration):
    dependencies = [("learning", "0022_standings")]

    operations = [
        migrations.AddField(
            model_name="thought",
            name="depth",
            field=models.PositiveSmallIntegerField(default=2, help_text="How many moves ahead that is."),
            preserve_default=False,
        ),
        migrations.RunPython(depths_of_rules, migrations.RunPython.noop),
    ]
