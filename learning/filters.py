"""Filters and orderings of lists, in the API and on pages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from decimal import Decimal
from typing import Any, TypeVar

import django_filters
from django import forms
from django.db.models import Case, F, Model, Q, QuerySet, When
from rest_framework.exceptions import ValidationError

from beadbox.experiments.registry import EXPERIMENTS
from beadbox.learners.presets import ALL_PRESETS, presets_of
from beadbox.names import MAX_SLUG_CHARACTERS, did_you_mean, name_search
from beadbox.rules.game import AnyGame
from beadbox.rules.registry import GAMES
from games.accounts.account_names import account_get_by_name
from games.accounts.principal import Principal
from games.live.serializers import parse_side
from learning.access import machines_visible, owned_by, row_id
from learning.forms.machines import game_choices
from learning.kinds.filters import Ordering, WholeFilter
from learning.models import (
    ExperimentRun,
    JobStatus,
    Machine,
    Schedule,
    Tournament,
    TournamentFormat,
    TrainingRun,
)

ModelT = TypeVar("ModelT", bound=Model)


class SlugFilter(django_filters.CharFilter):
    """A filter by slug; the error for an unknown slug suggests the most similar one.

    Args:
        asked_as: name of the query parameter, for the error.
        known: returns the valid slugs.
    """

    def __init__(self, asked_as: str, known: Callable[[], Collection[str]], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.asked_as, self.known = asked_as, known

    def filter(self, qs: QuerySet[ModelT], value: str | None) -> QuerySet[ModelT]:
        """Return the rows with this slug.

        Raises:
            ValidationError: the slug is unknown.
        """
        if value and value not in (known := self.known()):
            text = value[:MAX_SLUG_CHARACTERS]
            raise ValidationError({self.asked_as: f"There is nothing called {text!r}. {did_you_mean(value, known)}"})
        return super().filter(qs, value)


class NameFilter(django_filters.CharFilter):
    """A filter by part of a machine's name; case and accents do not matter."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(field_name="search_name", lookup_expr="contains", **kwargs)

    def filter(self, qs: QuerySet[Machine], value: str | None) -> QuerySet[Machine]:
        """Return the machines with ``value`` in their names."""
        return super().filter(qs, value and name_search(value))


class AccountFilter(django_filters.CharFilter):
    """A filter by the name of the owner's account; case does not matter."""

    def filter(self, qs: QuerySet[ModelT], value: str | None) -> QuerySet[ModelT]:
        """Return the rows of the account; none if there is no such account."""
        return qs.filter(owner=account_get_by_name(value) or 0) if value else qs


class MachineOrdering(Ordering):
    """A total ordering of machines, so that pages neither repeat nor omit a machine."""

    def filter(self, qs: QuerySet[Machine], value: Sequence[str] | None) -> QuerySet[Machine]:
        """Return the machines in this order; machines that are equal in it by id."""
        return qs.order_by(*self.columns(value), "pk")


class MachineFilter(django_filters.FilterSet):
    """Filter of machines in the API, by game, owner, rule, side and name."""

    game = SlugFilter("game", lambda: GAMES, help_text="The slug of a game.")
    owner = AccountFilter(help_text="The name of an account.")
    rule = SlugFilter(
        "rule", lambda: ALL_PRESETS, field_name="preset", help_text="The preset that its rule was copied from."
    )
    side = django_filters.CharFilter(method="on_side", help_text="A role such as X or O, or 0 or 1.")
    learns = django_filters.BooleanFilter(help_text="False: only frozen machines.")
    search = NameFilter(help_text="Part of the name, in any case, with or without accents.")
    ordering = MachineOrdering(
        fields=[("pk", "id"), ("name", "name"), ("n_games", "games"), ("created_at", "created_at")]
    )

    class Meta:
        model = Machine
        fields: list[str] = []

    def on_side(self, queryset: QuerySet[Machine], name: str, value: str) -> QuerySet[Machine]:
        """Return the machines that play the side of this name or number; each game has names of its own.

        Raises:
            ValidationError: no game has a side of this name.
        """
        condition = Q()
        for game in GAMES.values():
            try:
                side = parse_side(game, value, None)
            except ValueError:
                continue
            if side is not None:
                condition |= Q(game=game.slug, side=side)
        if not condition:
            raise ValidationError({"side": f"{value!r} is a side of no game."})
        return queryset.filter(condition)


SORTS = {
    "name": ("Name", ("name", "pk")),
    "game": ("Game", ("game", "name", "pk")),
    "side": ("Side", ("side", "name", "pk")),
    "rule": ("Rule", ("preset", "name", "pk")),
    "games": ("Fewest games", ("standing__games", "standing")),
    "-games": ("Most games", ("-standing__games", "-standing")),
    "strength": ("Weakest", (F("standing__score").asc(nulls_first=True), "standing")),
    "-strength": ("Strongest", (F("standing__score").desc(nulls_last=True), "-standing")),
}
"""Orders of the list of machines, with their labels and columns; each order has an index (``models.Standing``)."""
OWN_RULE = "own"
"""Value of the rule filters for machines with a rule that is no preset."""


class MachineListFilter(django_filters.FilterSet):
    """Filter and order of the page with all machines; invalid values are ignored."""

    search = NameFilter(label="Name", max_length=80)
    game = django_filters.ChoiceFilter(label="Game", empty_label="any", choices=game_choices)
    side = django_filters.ChoiceFilter(
        label="Plays",
        empty_label="any",
        method="on_side",
        choices=[("0", "first"), ("1", "second"), ("both", "either side")],
    )
    rule = django_filters.ChoiceFilter(
        label="Rule",
        empty_label="any",
        method="by_rule",
        choices=lambda: [
            *((slug, preset.name) for slug, preset in ALL_PRESETS.items()),
            (OWN_RULE, "a rule of its own"),
        ],
    )
    games = WholeFilter(field_name="standing__games", lookup_expr="gte", label="Games, at least", max_value=10**15)
    strength = django_filters.NumberFilter(
        method="as_strong", label="Points of 100, at least", min_value=0, max_value=100
    )
    whose = django_filters.ChoiceFilter(
        label="Owner", empty_label="anyone’s", method="of_owner", choices=[("own", "mine"), ("house", "built-in")]
    )
    sort = django_filters.ChoiceFilter(
        label="Sorted by",
        empty_label=None,
        method="in_order",
        choices=[(slug, words) for slug, (words, _) in SORTS.items()],
    )

    class Meta:
        model = Machine
        fields: list[str] = []

    def filter_queryset(self, queryset: QuerySet[Machine]) -> QuerySet[Machine]:
        """Return the listed machines, filtered, in a total order; copies made for rooms are not listed."""
        listed = queryset.filter(room__isnull=True, standing__isnull=False).order_by(*SORTS["name"][1])
        return super().filter_queryset(listed)

    def on_side(self, queryset: QuerySet[Machine], name: str, value: str) -> QuerySet[Machine]:
        """Return the machines that play first (0), second (1) or either side (``both``)."""
        return queryset.filter(side__isnull=True) if value == "both" else queryset.filter(side=int(value))

    def by_rule(self, queryset: QuerySet[Machine], name: str, value: str) -> QuerySet[Machine]:
        """Return the machines with the rule of a preset (a slug), or with another rule (:data:`OWN_RULE`)."""
        return queryset.filter(preset="" if value == OWN_RULE else value)

    def as_strong(self, queryset: QuerySet[Machine], name: str, value: Decimal) -> QuerySet[Machine]:
        """Return the machines that expect at least ``value`` points in 100 games against random play."""
        return queryset.filter(standing__score__gte=float(value) / 100)

    def of_owner(self, queryset: QuerySet[Machine], name: str, value: str) -> QuerySet[Machine]:
        """Return the viewer's own machines (``own``), or the site's (``house``)."""
        if value == "house":
            return queryset.filter(owner__isnull=True, guest__isnull=True)
        is_owned = owned_by(Principal.of(self.request.user))
        return queryset.none() if is_owned is None else queryset.filter(is_owned)

    def in_order(self, queryset: QuerySet[Machine], name: str, value: str) -> QuerySet[Machine]:
        return queryset.order_by(*SORTS[value][1])


class EntrantFilter(django_filters.FilterSet):
    """Filter of the machines of a game on the form of a new tournament."""

    search = NameFilter(label="Search by name", max_length=80)
    rule = django_filters.ChoiceFilter(label="Kind", empty_label="All kinds", method="by_rule")
    mine = django_filters.BooleanFilter(label="Only mine", widget=forms.CheckboxInput, method="of_owner")

    class Meta:
        model = Machine
        fields: list[str] = []

    def __init__(self, *args: Any, game: AnyGame, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        presets = [(slug, preset.name) for slug, preset in presets_of(game).items()]
        self.filters["rule"].extra["choices"] = [*presets, (OWN_RULE, "A rule of its own")]

    def filter_queryset(self, queryset: QuerySet[Machine]) -> QuerySet[Machine]:
        """Return the filtered machines, the viewer's own first."""
        is_owned = owned_by(Principal.of(self.request.user)) or Q(pk__in=[])
        return super().filter_queryset(queryset).order_by(Case(When(is_owned, then=0), default=1), "name", "pk")

    def by_rule(self, queryset: QuerySet[Machine], name: str, value: str) -> QuerySet[Machine]:
        """Return the machines with the rule of a preset (a slug), or with another rule (:data:`OWN_RULE`)."""
        return queryset.filter(preset="" if value == OWN_RULE else value)

    def of_owner(self, queryset: QuerySet[Machine], name: str, value: bool) -> QuerySet[Machine]:
        """Return only the viewer's own machines if ``value`` is true."""
        is_owned = owned_by(Principal.of(self.request.user)) or Q(pk__in=[])
        return queryset.filter(is_owned) if value else queryset


class RunFilter(django_filters.FilterSet):
    """Filter of training runs by machine, opponent and status."""

    machine = django_filters.CharFilter(method="of_machine", max_length=80, help_text="Id or slug of a machine.")
    opponent = django_filters.CharFilter(
        method="against", max_length=80, help_text="A fixed opponent, or the id or slug of a machine."
    )
    status = django_filters.ChoiceFilter(choices=JobStatus.choices)

    class Meta:
        model = TrainingRun
        fields: list[str] = []

    def of_machine(self, queryset: QuerySet[TrainingRun], name: str, value: str) -> QuerySet[TrainingRun]:
        """Return the runs that train this machine."""
        return queryset.filter(_has_ref("machine", value))

    def against(self, queryset: QuerySet[TrainingRun], name: str, value: str) -> QuerySet[TrainingRun]:
        """Return the runs with a stage against this opponent; machines that the viewer may not see match nothing."""
        is_fixed = Q(stages__opponent=value, stages__opponent_machine__isnull=True)
        is_visible = Q(stages__opponent_machine__in=machines_visible(self.request.user))
        return queryset.filter(is_fixed | is_visible & _has_ref("stages__opponent_machine", value)).distinct()


def _has_ref(path: str, ref: str) -> Q:
    """Return the condition that the machine at the end of a path has this id or slug."""
    return Q(**{f"{path}__slug" if row_id(ref) is None else f"{path}_id": ref})


class ScheduleFilter(django_filters.FilterSet):
    """Filter of schedules by machine and by whether they are paused."""

    machine = django_filters.CharFilter(method="of_machine", max_length=80, help_text="Id or slug of a machine.")
    paused = django_filters.BooleanFilter(field_name="task__enabled", exclude=True)

    class Meta:
        model = Schedule
        fields: list[str] = []

    def of_machine(self, queryset: QuerySet[Schedule], name: str, value: str) -> QuerySet[Schedule]:
        """Return the schedules of this machine."""
        return queryset.filter(_has_ref("machine", value))


class TournamentFilter(django_filters.FilterSet):
    """Filter of tournaments by game, format, status and owner."""

    game = SlugFilter("game", lambda: GAMES, help_text="The slug of a game.")
    format = django_filters.ChoiceFilter(choices=TournamentFormat.choices)
    status = django_filters.ChoiceFilter(choices=JobStatus.choices)
    owner = AccountFilter(help_text="The name of an account.")

    class Meta:
        model = Tournament
        fields: list[str] = []


class ExperimentRunFilter(django_filters.FilterSet):
    """Filter of runs by experiment and status."""

    experiment = SlugFilter("experiment", lambda: EXPERIMENTS, help_text="The slug of an experiment.")
    status = django_filters.ChoiceFilter(choices=JobStatus.choices)

    class Meta:
        model = ExperimentRun
        fields: list[str] = []
