"""Filters and links shared by the admin pages for rows of machines of any kind."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html

from games.admin.base import (
    RowFilter,
)
from learning.models import Lesson


class MachineFilter(RowFilter):
    """Filter by machine; the machine is found by its name or slug."""

    title = field = "machine"
    parameter_name = "machine__id__exact"


def page_link(row: Any) -> str:
    """Return a link to a row's page in the admin; a dash without a row."""
    if row is None:
        return "–"
    options = row._meta
    url = reverse(f"admin:{options.app_label}_{options.model_name}_change", args=[row.pk])
    return format_html('<a href="{}">{}</a>', url, row)


class MachineLinkAdmin:
    """Mixin for lists of rows that belong to a machine: a column links to that machine."""

    @admin.display(description="machine")
    def machine_page(self, row: Any) -> str:
        """Return a link to the machine of a row."""
        return page_link(row.machine)


def cause_link(lesson: Lesson) -> str:
    """Return a lesson's kind, with a link to its match or run."""
    if lesson.match is not None:
        url = reverse("admin:games_match_change", args=[lesson.match.pk])
        return format_html('{}: <a href="{}">match {}</a>', lesson.get_kind_display(), url, lesson.match)
    if lesson.run is None:  # the run belonged to another machine and was deleted with that machine
        return lesson.get_kind_display()
    url = reverse("admin:learning_trainingrun_change", args=[lesson.run_id])
    return format_html('{}: <a href="{}">{}</a>', lesson.get_kind_display(), url, lesson.run)


LATEST_CHANGES = 50
"""Maximum number of changes of a box or value on its page."""
