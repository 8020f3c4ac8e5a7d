"""Values in the admin, searched by machine and by the beginning of the key, without a count of all rows."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join

from games.admin.base import MAX_COUNTED_ROWS, BoardMedia, LargeTableAdmin, ReadOnly, WithRowFilter, board_html
from learning.kinds.admin import LATEST_CHANGES, MachineFilter, MachineLinkAdmin, cause_link
from learning.kinds.keyed_values.page import KeyedPage
from learning.kinds.registry import kind_of
from learning.models import Value


class ValueMachineFilter(MachineFilter):
    """Filter by the machine that keeps the values."""

    parameter_name = "machine"


@admin.register(Value)
class ValueAdmin(MachineLinkAdmin, ReadOnly, WithRowFilter, LargeTableAdmin):
    """The list of values, searched by machine and by the beginning of the key."""

    list_display = ("key", "machine_page", "value", "start", "n_visits")
    list_filter = (ValueMachineFilter,)
    list_select_related = ("machine",)
    ordering = ("machine", "key")
    indexed_parameters = (ValueMachineFilter.parameter_name,)
    search_fields = ("key__startswith",)
    search_help_text = (
        f"How the key begins, such as 0-0-1-1#. Choose a machine first. {MAX_COUNTED_ROWS:,} are shown at most."
    )
    fields = ("machine", "key", "board", "value", "start", "n_visits", "latest_changes")
    readonly_fields = fields

    class Media(BoardMedia):
        """Scripts and styles that draw boards."""

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Value], search_term: str
    ) -> tuple[QuerySet[Value], bool]:
        """Search the values of one machine; refuse a search of all machines, which would read every row."""
        if search_term and ValueMachineFilter.parameter_name not in request.GET:
            self.message_user(request, "Choose a machine, then search its values.", messages.WARNING)
            return queryset.none(), False
        return super().get_search_results(request, queryset, search_term)

    @admin.display(description="position")
    def board(self, entry: Value) -> str:
        """Return a drawing of the entry's board, if the entry's key names a board."""
        page = kind_of(entry.machine).page
        text = page.entry_position(entry) if isinstance(page, KeyedPage) else None
        return "-" if text is None else board_html(entry.machine.game, text)

    @admin.display(description=f"latest {LATEST_CHANGES} changes")
    def latest_changes(self, entry: Value) -> str:
        """Return the ledger of the value, newest first, each with its match or run."""
        changes = entry.changes.select_related("lesson__match__room", "lesson__run").order_by("-pk")
        rows = [(cause_link(change.lesson), change.before, change.after) for change in changes[:LATEST_CHANGES]]
        return format_html(
            "<table><tr><th>cause</th><th>before</th><th>after</th></tr>{}</table>",
            format_html_join("", "<tr><td>{}</td><td>{}</td><td>{}</td></tr>", rows),
        )
