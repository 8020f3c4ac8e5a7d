"""What the admin pages of every subject share."""

from __future__ import annotations

from django.urls import reverse
from django.utils.html import format_html

from games.admin.base import RowFilter
from learning.models import Lesson


class MachineFilter(RowFilter):
    """By machine, which is looked for by its name or slug."""

    title = field = "machine"
    parameter_name = "machine__id__exact"


def cause_link(lesson: Lesson) -> str:
    """A lesson's match or run, linked."""
    if lesson.match is not None:
        url = reverse("admin:games_match_change", args=[lesson.match.pk])
        return format_html('{}: <a href="{}">match {}</a>', lesson.get_kind_display(), url, lesson.match)
    if lesson.run is None:  # it was another machine's, and went with it
        return lesson.get_kind_display()
    url = reverse("admin:learning_trainingrun_change", args=[lesson.run_id])
    return format_html('{}: <a href="{}">{}</a>', lesson.get_kind_display(), url, lesson.run)
