"""Stores how the names of all machines are searched."""

from django.db import migrations

from learning.storage.searching import machine_names_fill


def fold(apps, schema_editor):
    machine_names_fill(apps.get_model("learning", "Machine"))


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("learning", "0033_machine_search_name")]

    operations = [migrations.RunPython(fold, migrations.RunPython.noop)]
