"""The base class of experiments, their parameters, and their results: figures, charts, tables and findings.

A result depends only on the experiment, its parameters and the seed, so it can be stored and shown again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import ClassVar, Generic, TypeAlias, TypeVar

from beadbox import field_text

Progress = Callable[[int, int], None]
"""Callback with the number of finished parts and of all parts; an exception from it ends the experiment."""


class ParameterError(ValueError):
    """A parameter is invalid; ``parameter`` is its name."""

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(f"{parameter}: {problem}")
        self.parameter = parameter


class Unit(StrEnum):
    """The unit of a figure's value."""

    GAMES = "games"
    LOSSES = "losses"
    TIMES = "times"
    SHARE = "share"
    ELO = "elo"


@dataclass(frozen=True, slots=True)
class Parameter:
    """An integer parameter of an experiment, with its default and inclusive bounds."""

    name: str
    label: str
    default: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Published:
    """A published figure, and the range ``low`` to ``high`` that counts as equal; no range if it is not a number."""

    words: str
    source: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A headline figure: a value with its 95 % interval, and a published figure for comparison.

    The value is ``None`` if it does not exist, such as a median of games until an event that happened in fewer than
    half of the cases. An interval with only a lower edge is unbounded above.
    """

    label: str
    unit: Unit
    value: float | None
    low: float | None = None
    high: float | None = None
    published: Published | None = None

    @property
    def agrees(self) -> bool | None:
        """Whether the interval overlaps the published range; ``None`` without a published range."""
        if self.published is None or self.published.low is None or self.published.high is None:
            return None
        low = self.value if self.low is None else self.low
        if low is None:
            return False
        high = self.value if self.low is None else self.high
        return low <= self.published.high and (high is None or high >= self.published.low)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart, with a value for each of its ``xs``; ``low`` and ``high`` are the edges of a band."""

    name: str
    values: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of shares between 0 and 1 over whole numbers; ``note`` explains its bands.

    The horizontal axis is logarithmic if ``is_stretched``.
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
    """A table of text cells; ``heads`` are the column headings."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Result:
    """The result of an experiment. ``findings`` are sentences with numbers and comparisons from its own data."""

    figures: Sequence[Figure]
    charts: Sequence[Chart]
    tables: Sequence[Table] = ()
    findings: Sequence[str] = ()

    def to_json(self) -> dict[str, object]:
        """Return the result as JSON types, each figure with its property ``agrees``."""
        figures = [{**asdict(figure), "agrees": figure.agrees} for figure in self.figures]
        return {
            "figures": figures,
            "charts": [asdict(chart) for chart in self.charts],
            "tables": [asdict(table) for table in self.tables],
            "findings": list(self.findings),
        }


PartT = TypeVar("PartT")
"""The result of one part of an experiment, as JSON types."""


class Experiment(ABC, Generic[PartT]):
    """An experiment: its question, its method, and its calculation in independent parts.

    Attributes:
        edition: version, raised whenever the same seed would give another result, so that stored results expire.
        question: the question in a sentence.
        story: the method in words a child understands; paragraphs are separated by empty lines.
        science: the method in the field's terms, with every definition.
        presets: the machines that take part.
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
        """Return every parameter with its given value or its default.

        Raises:
            ParameterError: a parameter is unknown, no integer, or out of range.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in given:
            if name not in known:
                raise ParameterError(str(name), field_text.unknown_field(known))
        return {name: _checked(parameter, given.get(name, parameter.default)) for name, parameter in known.items()}

    def run(
        self, settings: Mapping[str, int], seed: int, progress: Progress, found: list[PartT] | None = None
    ) -> Result:
        """Run the experiment. Equal settings (from :meth:`settings`) and seeds give equal results.

        Args:
            settings: every parameter with its value.
            seed: seed of all random numbers.
            progress: called after every part.
            found: results of the first parts from an earlier run. Further results are appended, so that a run that
                ``progress`` stopped by an exception can be resumed.
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
        """Return the number of parts, which are short and independent of each other."""

    @abstractmethod
    def parts(self, settings: Mapping[str, int], seed: int, first: int) -> Sequence[PartT]:
        """Calculate part ``first`` (0 for the first), and following parts that are efficient to calculate with it.

        Returns:
            At least one result, as JSON types. Results do not depend on the part from which a run resumes.
        """

    @abstractmethod
    def result(self, settings: Mapping[str, int], found: Sequence[PartT]) -> Result:
        """Combine the results of all parts into the result of the experiment."""


def _checked(parameter: Parameter, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParameterError(parameter.name, field_text.rather(field_text.WHOLE_NUMBER, repr(value)))
    if not parameter.low <= value <= parameter.high:
        between = field_text.between(f"{parameter.low:,}", f"{parameter.high:,}")
        raise ParameterError(parameter.name, field_text.rather(between, f"{value:,}"))
    return value


AnyExperiment: TypeAlias = Experiment[object]
"""An experiment of unknown type; it takes only parts that it produced itself."""
