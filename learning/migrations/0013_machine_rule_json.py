"""``Machine.rule_json`` is what is stored; ``Machine.rule`` is the rule itself."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("learning", "0012_jobs")]

    operations = [
        migrations.RenameField(model_name="machine", old_name="rule", new_name="rule_json"),
        migrations.AlterField(model_name="machine", name="rule_json", field=models.JSONField(verbose_name="rule")),
    ]
