"""Classes in the admin, without the names and codes of pupils."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest

from games.admin.base import CappedListAdmin, GameFilter, ReadOnly
from learning.models import Classroom, Participant


class ParticipantInline(ReadOnly, admin.TabularInline):
    """The pupils of a class: number and machine."""

    model = Participant
    fields = readonly_fields = ("number", "machine", "joined_at")
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[Participant]:
        """Leave out pupils that were removed or merged."""
        return super().get_queryset(request).select_related("machine").filter(machine__isnull=False)


@admin.register(Classroom)
class ClassroomAdmin(ReadOnly, CappedListAdmin):
    """Classes with their number of pupils: read-only, because only the teacher changes a class."""

    list_display = ("name", "game", "status", "is_locked", "pupils", "teacher", "created_at", "finished_at")
    list_filter = ("status", GameFilter)
    list_select_related = ("teacher",)
    fields = ("name", "teacher", "game", "side", "preset", "status", "is_locked", "n_pupils", "minutes", "created_at")
    readonly_fields = ("created_at",)
    inlines = (ParticipantInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Classroom]:
        """Annotate the number of pupils that have a machine."""
        present = Count("participants", filter=Q(participants__machine__isnull=False))
        rows: QuerySet[Classroom] = super().get_queryset(request).annotate(n_present=present)
        return rows

    @admin.display(description="pupils")
    def pupils(self, classroom: Any) -> int:
        """Return the number of pupils that have a machine."""
        return int(classroom.n_present)
