"""The base class of experiments, their parameters, and their results: figures, charts, tables and findings.

A result depends only on the experiment, its parameters and the seed, so that it can be reproduced.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Generic, TypeAlias, TypeVar

from beadbox import field_text
from beadbox.errors import BeadboxError

Progress = Callable[[int, int], None]
"""A function that is called with the numbers of finished parts and of all parts. Its exceptions end the experiment."""


class ParameterError(BeadboxError):
    """A parameter of an experiment is invalid. ``parameter`` is its name."""

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
    """An integer parameter of an experiment, with its default and its inclusive bounds ``low`` and ``high``."""

    name: str
    label: str
    default: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Published:
    """A published figure. Values from ``low`` to ``high`` count as equal to it; without a number, both are ``None``."""

    words: str
    source: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A headline figure: a value with its 95 % interval, and a published figure for comparison.

    The value is ``None`` if it does not exist. For example, the median of games until an event does not exist if the
    event happened in fewer than half of the cases. If only ``low`` is given, the interval has no upper bound.
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
    """A line of a chart, with a value for each of the chart's ``xs``. ``low`` and ``high`` are the edges of a band."""

    name: str
    values: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of shares between 0 and 1 over whole numbers.

    ``note`` explains the bands. The horizontal axis is logarithmic if ``is_stretched``.
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
    """A table of text cells. ``heads`` are the headings of its columns."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Result:
    """The result of an experiment. ``findings`` are sentences with numbers and comparisons computed from its data."""

    figures: Sequence[Figure]
    charts: Sequence[Chart]
    tables: Sequence[Table] = ()
    findings: Sequence[str] = ()

    def to_json(self) -> dict[str, object]:
        """Return the result as JSON types. Each figure includes its property ``agrees``."""
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
        edition: a version that is raised whenever the same seed gives another result, so that stored results expire.
        question: the question in a sentence.
        story: the method in simple words for children; paragraphs are separated by empty lines.
        science: the method in technical terms, with all definitions.
        presets: slugs of the machines that take part.
    """

    slug: str
    edition: int = 1
    name: str
    question: str
    story: str
    science: str
    game: str
    presets: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    default_seed: int = 1

    def settings(self, values: Mapping[str, object]) -> dict[str, int]:
        """Return all parameters with their given values or their defaults.

        Raises:
            ParameterError: a parameter is unknown, no integer, or out of range.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in values:
            if name not in known:
                raise ParameterError(str(name), field_text.unknown_field(known))
        return {
            name: _check_parameter(parameter, values.get(name, parameter.default)) for name, parameter in known.items()
        }

    def run(
        self, settings: Mapping[str, int], seed: int, progress: Progress, found: list[PartT] | None = None
    ) -> Result:
        """Return the result of the experiment. Equal settings and seeds give equal results.

        Args:
            settings: all parameters with their values, from :meth:`settings`.
            seed: the seed of all random numbers.
            progress: called after each part.
            found: results of the first parts from an earlier run. The results of further parts are appended. So a run
                can be resumed that an exception from ``progress`` has stopped.
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
        """Return the result of the part with index ``first``, and of following parts if that is more efficient.

        Returns:
            At least one result, as JSON types. Results do not depend on the part at which a run is resumed.
        """

    @abstractmethod
    def result(self, settings: Mapping[str, int], found: Sequence[PartT]) -> Result:
        """Return the result of the experiment, combined from the results of all parts."""


def _check_parameter(parameter: Parameter, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParameterError(parameter.name, field_text.rather(field_text.WHOLE_NUMBER, repr(value)))
    if not parameter.low <= value <= parameter.high:
        between = field_text.between(f"{parameter.low:,}", f"{parameter.high:,}")
        raise ParameterError(parameter.name, field_text.rather(between, f"{value:,}"))
    return value


AnyExperiment: TypeAlias = Experiment[object]
"""An experiment of unknown type. It takes only results of parts that it has returned itself."""
