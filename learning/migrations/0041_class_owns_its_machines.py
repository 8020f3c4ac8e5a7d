"""The check of the owner of a class's machines holds for every row."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("learning", "0040_machines_of_classes")]

    operations = [ValidateConstraint("machine", "machine_of_a_class")]
