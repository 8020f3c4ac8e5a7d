"""What the admin pages of every subject share: rows that are only looked at, and lists that may be of millions.

A page of a list costs the same whatever the table holds: the newest rows stand first, no more than
:data:`COUNTED_MOST` are counted, and a filter that no index answers looks through the newest :data:`LOOKED_THROUGH`
alone. So no index is added for the admin: each would be written with every match.
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

COUNTED_MOST = 5_000
"""So many rows of a list can be paged through; who wants others narrows the list."""
LOOKED_THROUGH = 50_000
"""Among so many of the newest rows a filter looks that no index answers."""


class ReadOnly:
    """Admin of rows that only services write."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody adds rows by hand."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody changes rows by hand."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody deletes rows by hand."""
        return False


class CappedPaginator(Paginator):
    """Pages of the first :data:`COUNTED_MOST` rows, without counting the others, which may be millions."""

    @cached_property
    def count(self) -> int:
        """How many rows there are to page through."""
        rows: Any = self.object_list
        return int(rows[:COUNTED_MOST].count())


class Counted(admin.ModelAdmin):
    """A list that is counted as far as it is shown, whoever has narrowed it how."""

    ordering: ClassVar[Any] = ("-pk",)
    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = ShowFacets.NEVER  # each of them would be counted


class NameSearch:
    """A list that is searched by folded names: for what is typed, and for its folded form (``beadbox.names``)."""

    def spellings(self, term: str) -> set[str]:
        """The texts to search for."""
        return {term, name_search(term)}

    def get_search_results(self, request: HttpRequest, queryset: QuerySet[Any], search_term: str) -> Any:
        """The rows with any of these texts."""
        found, may_repeat = queryset.none(), False
        for text in self.spellings(search_term):
            rows, repeats = super().get_search_results(request, queryset, text)  # type: ignore[misc]  # ModelAdmin's
            found, may_repeat = found | rows, may_repeat or repeats
        return found, may_repeat


class Large(Counted):
    """The list of a table that may have millions of rows: newest first, and looked through as far as is quick.

    Attributes:
        indexed: parameters of the list that an index answers, so that with one of them all rows are looked through.
    """

    indexed: ClassVar[Sequence[str]] = ()
    sortable_by = ()
    list_per_page = 50
    list_max_show_all = 50

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """All rows, or of a list that is narrowed by what has no index the newest ones."""
        rows = super().get_queryset(request)
        asked = {name for name, value in request.GET.items() if str(value).strip()}
        if not asked - {"p", "all", "_changelist_filters", "_popup", "_to_field"} or asked & set(self.indexed):
            return rows
        newest = self.model._default_manager.aggregate(pk=Max("pk"))["pk"] or 0
        return rows.filter(pk__gt=newest - LOOKED_THROUGH)


class Choices(admin.SimpleListFilter):
    """A filter by one field whose values are known, so that the table is not read for them.

    Attributes:
        field: the field, or where it is found from the row.
    """

    field: ClassVar[str]

    def known(self) -> Iterable[tuple[str, str]]:
        """Values, and what is said of each."""
        raise NotImplementedError

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        """What can be chosen."""
        return list(self.known())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The rows that have the value."""
        chosen = self.value()
        return queryset if chosen is None else queryset.filter(**{self.field: chosen})


class GameFilter(Choices):
    """By game."""

    title = parameter_name = field = "game"

    def known(self) -> Iterator[tuple[str, str]]:
        """Those that there are."""
        return ((slug, game.full_name) for slug, game in GAMES.items())


class Finder(AutocompleteSelect):
    """A field that looks for a row while one types. It says what for as long as it is empty."""

    def __init__(self, field: Any, looks_for: str) -> None:
        super().__init__(field, admin.site)
        self.looks_for = looks_for

    def build_attrs(
        self, base_attrs: dict[str, object], extra_attrs: dict[str, object] | None = None
    ) -> dict[str, object]:
        """Django's own, with these words: what reads the page aloud knows the field by them."""
        words = {"aria-label": self.looks_for, "data-placeholder": self.looks_for}
        return {**super().build_attrs(base_attrs, extra_attrs), **words}


class RowFilter(admin.ListFilter):
    """By a row of another table, which is looked for by typing: a table of thousands is no list of links.

    Attributes:
        field: the foreign key that leads to it.
        parameter_name: what the address calls its id.
    """

    template = "admin/row_filter.html"
    field: ClassVar[str]
    parameter_name: ClassVar[str]

    def __init__(self, request: HttpRequest, params: dict[str, Any], model: Any, model_admin: Any) -> None:
        super().__init__(request, params, model, model_admin)
        text = params.pop(self.parameter_name, [""])[-1]
        self.row_id = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
        self.is_asked = bool(text)
        self.model = model
        self.rest = [(name, value) for name, value in request.GET.items() if name not in (self.parameter_name, "p")]

    def has_output(self) -> bool:
        """Always: nobody knows whether there is a row to look for."""
        return True

    def expected_parameters(self) -> list[str | None]:
        """The one parameter of the filter."""
        return [self.parameter_name]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The rows that lead there."""
        if not self.is_asked:
            return queryset
        return queryset.none() if self.row_id is None else queryset.filter(**{self.field: self.row_id})

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """The field to type into, and the way back to all."""
        key = self.model._meta.get_field(self.field)
        widget = Finder(key, f"Any {self.title}")
        widget.choices = forms.ModelChoiceField(key.remote_field.model._default_manager.all()).choices
        html = widget.render(self.parameter_name, self.row_id, {"id": f"filter-{self.parameter_name}"})
        yield {
            "field": html,
            "rest": self.rest,
            "is_asked": self.is_asked,
            "all": changelist.get_query_string(remove=[self.parameter_name]),
        }


class WithRowFilter(admin.ModelAdmin):
    """An admin whose list has a :class:`RowFilter`: it brings the script that looks while one types."""

    @property
    def media(self) -> forms.Media:
        """What forms need, and the field of the filter."""
        chosen = next(one for one in self.list_filter if isinstance(one, type) and issubclass(one, RowFilter))
        return super().media + Finder(self.model._meta.get_field(chosen.field), "").media


class LinkedFilter(admin.ListFilter):
    """A filter that other pages lead to; it stands beside the list only while it narrows it.

    Attributes:
        parameter_name: what the address calls it.
        words: what the rows have in common.
    """

    parameter_name: ClassVar[str]
    words: ClassVar[str]

    def __init__(self, request: HttpRequest, params: dict[str, Any], model: Any, model_admin: Any) -> None:
        super().__init__(request, params, model, model_admin)
        self.value: str = params.pop(self.parameter_name, [""])[-1]

    def narrowed(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        """The rows that have the value; none for a text that is no value."""
        raise NotImplementedError

    def has_output(self) -> bool:
        """While it narrows the list."""
        return bool(self.value)

    def expected_parameters(self) -> list[str | None]:
        return [self.parameter_name]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The rows that have the value."""
        return self.narrowed(queryset, self.value)

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """The link to all rows, and the one to the narrowed list."""
        everything = changelist.get_query_string(remove=[self.parameter_name])
        yield {"selected": False, "query_string": everything, "display": "All"}
        yield {"selected": True, "query_string": changelist.get_query_string(), "display": self.words}


def is_account_id(text: str) -> bool:
    """Whether a text of an address can be the id of an account."""
    return text.isascii() and text.isdigit() and len(text) < 10


class AccountFilter(LinkedFilter):
    """By the account at the end of ``field``."""

    title, parameter_name, words = "account", "account", "Of one account"
    field: ClassVar[str]

    def narrowed(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        """The rows of the account with this id."""
        return rows.filter(**{self.field: value}) if is_account_id(value) else rows.none()


class PlayerFilter(LinkedFilter):
    """By a player of matches: the id of an account, or the number of a guest.

    Attributes:
        path: which id of the rows the seats of the player name.
    """

    title, parameter_name, words = "player", "player", "Of one player"
    path: ClassVar[str]

    def narrowed(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        """The rows in which the player has a seat."""
        if is_account_id(value):
            seats = Seat.objects.filter(user=int(value))
        else:
            try:
                seats = Seat.objects.filter(guest=UUID(value))
            except ValueError:
                return rows.none()
        return rows.filter(pk__in=seats.values(self.path))


def links_html(links: Iterable[tuple[str, str]]) -> str:
    """Addresses with their words, one after the other."""
    return format_html_join(" · ", '<a href="{}">{}</a>', links)


def log_each(request: HttpRequest, rows: Iterable[Model], message: str, flag: int = CHANGE) -> None:
    """Write into the admin's log what somebody has just done to each of these rows, in one statement."""
    assert request.user.pk is not None, "only the staff comes here"
    LogEntry.objects.log_actions(user_id=request.user.pk, queryset=list(rows), action_flag=flag, change_message=message)


def board_html(game_slug: str, text: str) -> str:
    """A position drawn as a board by ``static/js/admin_board.js``, with its text for screen readers.

    The script asks for the layout of each game once, so a list does not repeat it in every row.
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
