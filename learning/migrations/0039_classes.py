import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

import games.models
import games.validators
import learning.models.sharing
from games.transport.migration_operations import LOCK_TIMEOUT


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0016_match_draw_offered_by"),
        ("learning", "0038_plainer_help_texts"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        LOCK_TIMEOUT,
        migrations.CreateModel(
            name="Participant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveSmallIntegerField(help_text="1 for the first pupil of the class.")),
                ("name", models.CharField(blank=True, max_length=24, validators=[games.validators.name_validate])),
                (
                    "is_typed",
                    models.BooleanField(default=False, help_text="Whether the name was typed, and not generated."),
                ),
                (
                    "is_hidden",
                    models.BooleanField(default=False, help_text="Whether the table shows a number for the name."),
                ),
                ("guest", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("code", models.CharField(default=games.models.new_code, editable=False, max_length=6, unique=True)),
                ("joined_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["classroom_id", "number"],
            },
        ),
        migrations.AddField(
            model_name="machine",
            name="is_paused",
            field=models.BooleanField(
                db_default=False,
                default=False,
                editable=False,
                help_text="Whether its class is paused, so that it does not play.",
            ),
        ),
        migrations.AddField(
            model_name="machine",
            name="pupil",
            field=models.UUIDField(
                blank=True,
                editable=False,
                help_text="In a class: the guest number of the pupil that teaches it.",
                null=True,
            ),
        ),
        migrations.CreateModel(
            name="Classroom",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60, validators=[games.validators.name_validate])),
                ("code", models.CharField(default=games.models.new_code, editable=False, max_length=6, unique=True)),
                (
                    "secret",
                    models.CharField(
                        default=learning.models.sharing.link_secret, editable=False, max_length=43, unique=True
                    ),
                ),
                ("game", models.SlugField(db_index=False, max_length=40)),
                (
                    "side",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        choices=[(None, "half and half"), (0, "plays first"), (1, "plays second")],
                        help_text="The side of all machines. Empty: one half of the pupils teaches each side.",
                        null=True,
                    ),
                ),
                (
                    "preset",
                    models.SlugField(
                        blank=True, db_index=False, help_text="Empty: the usual rule of the side.", max_length=40
                    ),
                ),
                (
                    "opponent",
                    models.SlugField(
                        db_index=False,
                        default="perfect",
                        help_text="The opponent in the ranking of the final.",
                        max_length=40,
                    ),
                ),
                ("n_pupils", models.PositiveSmallIntegerField(help_text="Pupils that the teacher expects.")),
                ("minutes", models.PositiveSmallIntegerField(help_text="Minutes of the lesson.")),
                ("allows_names", models.BooleanField(default=False, help_text="Whether pupils may type a first name.")),
                (
                    "hides_names",
                    models.BooleanField(default=False, help_text="Whether the table shows numbers for names."),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[("open", "open"), ("paused", "paused"), ("finished", "finished")],
                        default="open",
                        max_length=8,
                    ),
                ),
                ("is_locked", models.BooleanField(default=False, help_text="Whether new pupils are refused.")),
                (
                    "final",
                    models.JSONField(blank=True, editable=False, help_text="The results of the final.", null=True),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("finished_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "link",
                    models.OneToOneField(
                        editable=False,
                        on_delete=django.db.models.deletion.RESTRICT,
                        related_name="classroom",
                        to="learning.sharedlink",
                    ),
                ),
                (
                    "teacher",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="classrooms",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="machine",
            name="classroom",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                editable=False,
                help_text="The class that owns it.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="machines",
                to="learning.classroom",
            ),
        ),
        AddConstraintNotValid(
            model_name="machine",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("classroom__isnull", True), ("is_paused", False), ("pupil__isnull", True)),
                    models.Q(
                        ("classroom__isnull", False),
                        ("guest__isnull", True),
                        ("is_public", False),
                        ("owner__isnull", True),
                        ("room__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="machine_of_a_class",
            ),
        ),
        migrations.AddField(
            model_name="participant",
            name="classroom",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="participants",
                to="learning.classroom",
            ),
        ),
        migrations.AddField(
            model_name="participant",
            name="machine",
            field=models.OneToOneField(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="participant",
                to="learning.machine",
            ),
        ),
        migrations.AddField(
            model_name="participant",
            name="merged_into",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="merged",
                to="learning.participant",
            ),
        ),
        migrations.AddConstraint(
            model_name="classroom",
            constraint=models.CheckConstraint(
                condition=models.Q(("code__regex", "^[a-hjkmnp-z2-9]{6}$")), name="classroom_code_form"
            ),
        ),
        migrations.AddConstraint(
            model_name="classroom",
            constraint=models.CheckConstraint(
                condition=models.Q(("side__isnull", True), ("side__lte", 1), _connector="OR"), name="classroom_side"
            ),
        ),
        migrations.AddConstraint(
            model_name="classroom",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("finished_at__isnull", False), ("status", "finished")),
                    models.Q(models.Q(("status", "finished"), _negated=True), ("finished_at__isnull", True)),
                    _connector="OR",
                ),
                name="classroom_finished",
            ),
        ),
        migrations.AddConstraint(
            model_name="participant",
            constraint=models.UniqueConstraint(fields=("classroom", "number"), name="participant_number_once"),
        ),
        migrations.AddConstraint(
            model_name="participant",
            constraint=models.CheckConstraint(
                condition=models.Q(("code__regex", "^[a-hjkmnp-z2-9]{6}$")), name="participant_code_form"
            ),
        ),
        migrations.AddConstraint(
            model_name="participant",
            constraint=models.CheckConstraint(
                condition=models.Q(("merged_into__isnull", True), ("machine__isnull", True), _connector="OR"),
                name="participant_merged",
            ),
        ),
    ]
