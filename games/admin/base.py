"""Base classes of the admin pages: read-only rows, and lists of tables that may have millions of rows.

The cost of a list does not grow with its table: the newest rows come first, and at most :data:`MAX_COUNTED_ROWS` rows
are counted. A filter without an index searches only the newest :data:`MAX_SEARCHED_ROWS` rows. No index exists for the
admin alone, because every match would have to write into it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.contrib import admin
from django.contrib.admin import ShowFacets
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.admin.views.main import ChangeList
from django.contrib.admin.widgets import AutocompleteSelect
from django.core.paginator import Paginator
from django.db.models import Max, Model, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.html import format_html, format_html_join

from beadbox.names import name_search
from beadbox.rules.registry import GAMES
from games.models import Seat

MAX_COUNTED_ROWS = 5_000
"""Number of rows that a list can page through. Older rows are reached by filters."""
MAX_SEARCHED_ROWS = 50_000
"""Number of the newest rows that a filter without an index searches."""


class ReadOnly:
    """Admin of rows that only services write."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class CappedPaginator(Paginator):
    """Pages of the first :data:`MAX_COUNTED_ROWS` rows. Further rows, possibly millions, are not counted."""

    @cached_property
    def count(self) -> int:
        """Return the number of rows that can be paged through."""
        rows: Any = self.object_list
        return int(rows[:MAX_COUNTED_ROWS].count())


class CappedListAdmin(admin.ModelAdmin):
    """Base of lists that count at most :data:`MAX_COUNTED_ROWS` rows, with and without filters."""

    ordering: ClassVar[Any] = ("-pk",)
    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = ShowFacets.NEVER  # Each facet would need a count.


class NameSearch:
    """Base of lists in which a search looks for both the typed text and its folded form (``beadbox.names``)."""

    def spellings(self, term: str) -> set[str]:
        return {term, name_search(term)}

    def get_search_results(self, request: HttpRequest, queryset: QuerySet[Any], search_term: str) -> Any:
        """Return the rows that match any spelling of the term, and whether rows may repeat."""
        matches, may_repeat = queryset.none(), False
        for text in self.spellings(search_term):
            rows, repeats = super().get_search_results(request, queryset, text)  # type: ignore[misc]  # ModelAdmin's
            matches, may_repeat = matches | rows, may_repeat or repeats
        return matches, may_repeat


class LargeTableAdmin(CappedListAdmin):
    """Base of lists of tables that may have millions of rows: the newest rows first, with a limited search.

    Attributes:
        indexed_parameters: query parameters for which the table has an index. With one of them, all rows are searched.
    """

    indexed_parameters: ClassVar[Sequence[str]] = ()
    sortable_by = ()
    list_per_page = 50
    list_max_show_all = 50

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return all rows, or the newest :data:`MAX_SEARCHED_ROWS` rows if only filters without an index are set."""
        rows = super().get_queryset(request)
        parameters = {name for name, value in request.GET.items() if str(value).strip()}
        if not parameters - {"p", "all", "_changelist_filters", "_popup", "_to_field"} or parameters & set(
            self.indexed_parameters
        ):
            return rows
        newest = self.model._default_manager.aggregate(pk=Max("pk"))["pk"] or 0
        return rows.filter(pk__gt=newest - MAX_SEARCHED_ROWS)


class ChoiceFilter(admin.SimpleListFilter):
    """A filter by a field whose values are known without a query.

    Attributes:
        field: the look-up of the field from the row.
    """

    field: ClassVar[str]

    def valid_values(self) -> Iterable[tuple[str, str]]:
        """Return the values of the field and their labels."""
        raise NotImplementedError

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return list(self.valid_values())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.value()
        return queryset if chosen is None else queryset.filter(**{self.field: chosen})


class GameFilter(ChoiceFilter):
    title = parameter_name = field = "game"

    def valid_values(self) -> Iterator[tuple[str, str]]:
        return ((slug, game.full_name) for slug, game in GAMES.items())


class Finder(AutocompleteSelect):
    """An input field that searches for a row while the user types. An empty field shows ``placeholder_text``."""

    def __init__(self, field: Any, placeholder_text: str) -> None:
        super().__init__(field, admin.site)
        self.placeholder_text = placeholder_text

    def build_attrs(
        self, base_attrs: dict[str, object], extra_attrs: dict[str, object] | None = None
    ) -> dict[str, object]:
        """Add ``placeholder_text`` as the placeholder, and as the label for screen readers."""
        texts = {"aria-label": self.placeholder_text, "data-placeholder": self.placeholder_text}
        return {**super().build_attrs(base_attrs, extra_attrs), **texts}


class RowFilter(admin.ListFilter):
    """A filter by a row of another table. The user searches for the row, since a list of links would be too long.

    Attributes:
        field: the foreign key to the other table.
        parameter_name: the query parameter with the row's id.
    """

    template = "admin/row_filter.html"
    field: ClassVar[str]
    parameter_name: ClassVar[str]

    def __init__(self, request: HttpRequest, params: dict[str, Any], model: Any, model_admin: Any) -> None:
        super().__init__(request, params, model, model_admin)
        text = params.pop(self.parameter_name, [""])[-1]
        self.row_id = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
        self.is_set = bool(text)
        self.model = model
        self.other_parameters = [
            (name, value) for name, value in request.GET.items() if name not in (self.parameter_name, "p")
        ]

    def has_output(self) -> bool:
        """Return ``True``: the filter is always shown, so no query has to look for rows to choose from."""
        return True

    def expected_parameters(self) -> list[str | None]:
        return [self.parameter_name]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not self.is_set:
            return queryset
        return queryset.none() if self.row_id is None else queryset.filter(**{self.field: self.row_id})

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """Yield one context for the template: the input field, and the link that removes the filter."""
        foreign_key = self.model._meta.get_field(self.field)
        widget = Finder(foreign_key, f"Any {self.title}")
        widget.choices = forms.ModelChoiceField(foreign_key.remote_field.model._default_manager.all()).choices
        html = widget.render(self.parameter_name, self.row_id, {"id": f"filter-{self.parameter_name}"})
        yield {
            "field": html,
            "other_parameters": self.other_parameters,
            "is_set": self.is_set,
            "all": changelist.get_query_string(remove=[self.parameter_name]),
        }


class WithRowFilter(admin.ModelAdmin):
    """Base of admins with a :class:`RowFilter` in their list. It adds the script of the filter's input field."""

    @property
    def media(self) -> forms.Media:
        row_filter = next(
            list_filter
            for list_filter in self.list_filter
            if isinstance(list_filter, type) and issubclass(list_filter, RowFilter)
        )
        return super().media + Finder(self.model._meta.get_field(row_filter.field), "").media


class LinkedFilter(admin.ListFilter):
    """A filter that is set by links on other pages, and shown only while it is set.

    Attributes:
        parameter_name: the query parameter with the value.
        list_label: label of the filtered list.
    """

    parameter_name: ClassVar[str]
    list_label: ClassVar[str]

    def __init__(self, request: HttpRequest, params: dict[str, Any], model: Any, model_admin: Any) -> None:
        super().__init__(request, params, model, model_admin)
        self.value: str = params.pop(self.parameter_name, [""])[-1]

    def filter_rows(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        """Return the rows that match the value of the parameter; no rows for an invalid value."""
        raise NotImplementedError

    def has_output(self) -> bool:
        return bool(self.value)

    def expected_parameters(self) -> list[str | None]:
        return [self.parameter_name]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return self.filter_rows(queryset, self.value)

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """Yield the link to all rows and the link to the filtered list."""
        everything = changelist.get_query_string(remove=[self.parameter_name])
        yield {"selected": False, "query_string": everything, "display": "All"}
        yield {"selected": True, "query_string": changelist.get_query_string(), "display": self.list_label}


def is_account_id(text: str) -> bool:
    """Whether a text can be the id of an account."""
    return text.isascii() and text.isdigit() and len(text) < 10


class AccountFilter(LinkedFilter):
    """A filter by the account to which ``field`` leads."""

    title, parameter_name, list_label = "account", "account", "Of one account"
    field: ClassVar[str]

    def filter_rows(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        return rows.filter(**{self.field: value}) if is_account_id(value) else rows.none()


class PlayerFilter(LinkedFilter):
    """A filter by a player of matches: the id of an account, or the number of a guest.

    Attributes:
        path: look-up from a seat to the id of the listed row.
    """

    title, parameter_name, list_label = "player", "player", "Of one player"
    path: ClassVar[str]

    def filter_rows(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        """Return the rows in which the player has a seat."""
        if is_account_id(value):
            seats = Seat.objects.filter(user=int(value))
        else:
            try:
                seats = Seat.objects.filter(guest=UUID(value))
            except ValueError:
                return rows.none()
        return rows.filter(pk__in=seats.values(self.path))


def links_html(links: Iterable[tuple[str, str]]) -> str:
    """Return links as HTML, separated by dots. Each link is an address and a text."""
    return format_html_join(" · ", '<a href="{}">{}</a>', links)


def log_each(request: HttpRequest, rows: Iterable[Model], message: str, flag: int = CHANGE) -> None:
    """Write an action of the current user on each of these rows into the admin's log, by one statement."""
    assert request.user.pk is not None, "only staff can open the admin"
    LogEntry.objects.log_actions(user_id=request.user.pk, queryset=list(rows), action_flag=flag, change_message=message)


def board_html(game_slug: str, text: str) -> str:
    """Return a position as HTML: a board that ``static/js/admin_board.js`` draws, and the text for screen readers.

    The script fetches the layout of each game once, so a list does not repeat the layout in every row.
    """
    from beadbox.rules.registry import game_get

    game = game_get(game_slug)
    board = json.dumps(list(game.pieces(game.decode(text))))
    return format_html(
        '<bead-board data-game="{}" data-board="{}"></bead-board> <code>{}</code>', game_slug, board, text
    )


class BoardMedia:
    """The script that draws boards and beads in the admin."""

    js = [forms.Script("js/admin_board.js", type="module")]
