"""What every experiment has in common: parameters with a range, and a result of figures, charts and tables.

A result follows from the experiment, its parameters and the seed alone, so it can be kept and shown again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import ClassVar, Generic, TypeAlias, TypeVar

from beadbox import field_text

Progress = Callable[[int, int], None]
"""Called with what is done and what there is to do; may raise, which ends the experiment."""


class ParameterError(ValueError):
    """A parameter was refused; ``parameter`` names it."""

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(f"{parameter}: {problem}")
        self.parameter = parameter


class Unit(StrEnum):
    """What a figure counts."""

    GAMES = "games"
    LOSSES = "losses"
    TIMES = "times"
    SHARE = "share"
    ELO = "elo"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A whole number that whoever runs the experiment may choose."""

    name: str
    label: str
    default: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Published:
    """A figure that others gave, and what still counts as the same: ``low`` to ``high``, none where it is no number."""

    words: str
    source: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A headline: the value with its 95 % interval, and the published one beside it.

    A value of ``None`` says that there is none, as of games until something that happened in fewer than half the cases.
    An interval with a lower edge alone has no end.
    """

    label: str
    unit: Unit
    value: float | None
    low: float | None = None
    high: float | None = None
    published: Published | None = None

    @property
    def agrees(self) -> bool | None:
        """Whether the interval reaches into the published range; ``None`` where nothing is to be compared."""
        if self.published is None or self.published.low is None or self.published.high is None:
            return None
        low = self.value if self.low is None else self.low
        if low is None:
            return False
        high = self.value if self.low is None else self.high
        return low <= self.published.high and (high is None or high >= self.published.low)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart, aligned to its ``xs``; ``low`` and ``high`` are the edges of a band around it."""

    name: str
    values: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture: shares between 0 and 1 over whole numbers. ``note`` says what its bands are.

    Where it ``is_stretched`` every step to the right is ten times as many.
    """

    slug: str
    title: str
    x: str
    y: str
    xs: Sequence[int]
    lines: Sequence[Line]
    note: str = ""
    is_bars: bool = False
    is_stretched: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under their heads."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Result:
    """What an experiment came to. ``findings`` are sentences whose numbers and comparisons come from its own rows."""

    figures: Sequence[Figure]
    charts: Sequence[Chart]
    tables: Sequence[Table] = ()
    findings: Sequence[str] = ()

    def to_json(self) -> dict[str, object]:
        """The result as JSON types."""
        figures = [{**asdict(figure), "agrees": figure.agrees} for figure in self.figures]
        return {
            "figures": figures,
            "charts": [asdict(chart) for chart in self.charts],
            "tables": [asdict(table) for table in self.tables],
            "findings": list(self.findings),
        }


PartT = TypeVar("PartT")
"""What a part of an experiment comes to, as JSON types."""


class Experiment(ABC, Generic[PartT]):
    """A question, how it is asked, and who asked it first.

    Attributes:
        edition: raised whenever the same seed would give another result, so that nothing old is taken for new.
        question: what is asked, in a sentence.
        story: what is done, in words a child understands; paragraphs with an empty line between them.
        science: the same in the field's terms, with every definition.
        presets: the machines it is about.
    """

    slug: ClassVar[str]
    edition: ClassVar[int] = 1
    name: ClassVar[str]
    question: ClassVar[str]
    story: ClassVar[str]
    science: ClassVar[str]
    game: ClassVar[str]
    presets: ClassVar[tuple[str, ...]]
    parameters: ClassVar[tuple[Parameter, ...]]
    default_seed: ClassVar[int] = 1

    def settings(self, given: Mapping[str, object]) -> dict[str, int]:
        """Every parameter with its value: as given, else its default.

        Raises:
            ParameterError: a parameter is unknown, no whole number or out of range; it is named.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in given:
            if name not in known:
                raise ParameterError(str(name), field_text.unknown_field(known))
        return {name: _checked(parameter, given.get(name, parameter.default)) for name, parameter in known.items()}

    def run(
        self, settings: Mapping[str, int], seed: int, progress: Progress, found: list[PartT] | None = None
    ) -> Result:
        """Run it. The same settings (from :meth:`settings`) and seed give the same result, number for number.

        Args:
            settings: every parameter with its value.
            seed: of all its random words.
            progress: called after every part.
            found: what its first parts came to when it was begun; what the others come to is added, so that whoever
                stops it from within ``progress`` can have it go on later.
        """
        found = [] if found is None else found
        n_parts = self.n_parts(settings)
        while len(found) < n_parts:
            for part in self.parts(settings, seed, len(found)):
                found.append(part)
                progress(len(found), n_parts)
        return self.result(settings, found)

    @abstractmethod
    def n_parts(self, settings: Mapping[str, int]) -> int:
        """Of how many parts it is made, each independent of the others and short."""

    @abstractmethod
    def parts(self, settings: Mapping[str, int], seed: int, first: int) -> Sequence[PartT]:
        """What a part comes to, 0 for the first, and those after it that are best found with it, one at least.

        JSON types, that can be kept: from whichever part one goes on, the others come to the same.
        """

    @abstractmethod
    def result(self, settings: Mapping[str, int], found: Sequence[PartT]) -> Result:
        """What all parts come to together."""


def _checked(parameter: Parameter, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParameterError(parameter.name, field_text.rather(field_text.WHOLE_NUMBER, repr(value)))
    if not parameter.low <= value <= parameter.high:
        between = field_text.between(f"{parameter.low:,}", f"{parameter.high:,}")
        raise ParameterError(parameter.name, field_text.rather(between, f"{value:,}"))
    return value


AnyExperiment: TypeAlias = Experiment[object]
"""An experiment that is not known. It takes the parts that it made itself."""
