"""The final of a class is a job of its own."""

import django.db.models.deletion
import django.utils.timezone
import games.transport.request_context
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("learning", "0042_help_texts_by_noun"),
    ]

    operations = [
        # The column stays, because the previous release reads it. A later contraction drops it.
        migrations.SeparateDatabaseAndState(state_operations=[migrations.RemoveField("classroom", "final")]),
        migrations.CreateModel(
            name="ClassFinal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "waiting"),
                            ("running", "running"),
                            ("finished", "finished"),
                            ("cancelled", "cancelled"),
                            ("failed", "failed"),
                        ],
                        default="queued",
                        max_length=9,
                    ),
                ),
                ("knocked_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("lease_until", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "leased_by",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        editable=False,
                        help_text="Host and process of the worker that holds the lease.",
                        max_length=100,
                    ),
                ),
                (
                    "request_id",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default=games.transport.request_context.request_id,
                        editable=False,
                        help_text="Id of the request that created the job, as in the log.",
                        max_length=64,
                    ),
                ),
                (
                    "entrants",
                    models.JSONField(
                        default=list,
                        help_text="Number of the pupil, id of the machine and its number of lessons, for each entrant.",
                    ),
                ),
                (
                    "found",
                    models.JSONField(
                        default=list, help_text="The chances of the pairs so far, the second player changing first."
                    ),
                ),
                ("progress", models.FloatField(default=0.0, help_text="0 to 1.")),
                ("results", models.JSONField(blank=True, help_text="Places, boxes and the shown match.", null=True)),
                ("error", models.TextField(blank=True)),
                (
                    "is_shown",
                    models.BooleanField(
                        default=True, help_text="Whether the class was not opened again since the final."
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("finished_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "classroom",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="final", to="learning.classroom"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["status", "lease_until"], name="class_final_status_lease")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("progress__gte", 0), ("progress__lte", 1)), name="class_final_progress"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("results__isnull", False), ("status", "finished")),
                            models.Q(models.Q(("status", "finished"), _negated=True), ("results__isnull", True)),
                            _connector="OR",
                        ),
                        name="class_final_finished_is_known",
                    ),
                ],
            },
        ),
    ]
