"""``manage.py experiment``: run an experiment in this process, and print its figures beside the published ones."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from beadbox.experiments.experiment import AnyExperiment, Figure, ParameterError, Result, Unit
from beadbox.experiments.findings import percent_text, tolerance_text
from beadbox.experiments.registry import EXPERIMENTS
from beadbox.seeds import SeedError, seed_checked, seed_to_json

MAX_LINE_CHARACTERS = 120
READERS = (
    "For people who check published results. After reading this page, you know what one run of this experiment found.\n"
    "[Experiments](../experiments.md) says how to repeat it."
)
"""The first paragraph of a file in docs/experiments."""


class Command(BaseCommand):
    """Run an experiment, without storing its result."""

    help = (
        "Runs an experiment and prints its figures. The same seed and parameters give the same figures. Stores nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """NAME [--seed S] [--json FILE] and the experiment's own parameters."""
        names = parser.add_subparsers(dest="name", metavar="NAME", required=True)
        for slug, experiment in EXPERIMENTS.items():
            subparser = names.add_parser(
                slug, help=experiment.question.replace("%", "%%"), description=experiment.question
            )
            subparser.add_argument("--seed", type=int, default=experiment.default_seed, help="default: %(default)s")
            subparser.add_argument(
                "--json", metavar="FILE", help="write the whole result to this file, with the points of the charts"
            )
            subparser.add_argument("--markdown", metavar="FILE", help="write findings, figures and tables to this file")
            subparser.add_argument("--commit", default="", help="commit to name in the Markdown file")
            for parameter in experiment.parameters:
                help_text = f"{parameter.label}: {parameter.low} to {parameter.high}; default: %(default)s"
                subparser.add_argument(f"--{parameter.name}", type=int, default=parameter.default, help=help_text)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the experiment, print its result, and write the requested files."""
        experiment = EXPERIMENTS[options["name"]]
        try:
            seed = seed_checked(options["seed"])
            settings = experiment.settings(
                {parameter.name: options[parameter.name] for parameter in experiment.parameters}
            )
        except (ParameterError, SeedError) as error:
            raise CommandError(str(error)) from None
        result = experiment.run(settings, seed, self._progress if self.stdout.isatty() else _silent)
        self._print(experiment, result)
        settings_text = ", ".join(f"{name} {value:,}" for name, value in settings.items())
        source = f"{experiment.slug}, {settings_text}, seed {seed}, edition {experiment.edition}"
        self.stdout.write(source)
        if options["markdown"]:
            source += f", commit {options['commit']}" if options["commit"] else ""
            Path(options["markdown"]).write_text("\n".join(_markdown(experiment, result, source)) + "\n")
        if options["json"]:
            head = {"experiment": experiment.slug, "edition": experiment.edition, "seed": seed_to_json(seed)}
            Path(options["json"]).write_text(
                json.dumps({**head, "parameters": settings, **result.to_json()}, indent=1) + "\n"
            )

    def _progress(self, done: int, total: int) -> None:
        self.stdout.write(f"\r{done:,} of {total:,}", ending="\n" if done == total else "")

    def _print(self, experiment: AnyExperiment, result: Result) -> None:
        self.stdout.write(experiment.question)
        for finding in result.findings:
            self.stdout.write(f"  {finding}")
        for figure in result.figures:
            self.stdout.write(f"  {figure.label}: {_words(figure)}")
        for table in result.tables:
            rows = [table.heads, *table.rows]
            widths = [max(len(row[column]) for row in rows) for column in range(len(table.heads))]
            self.stdout.write(table.title)
            for row in rows:
                cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
                self.stdout.write("  " + "  ".join(cells).rstrip())


def _markdown(experiment: AnyExperiment, result: Result, source: str) -> Iterator[str]:
    """Yield the findings, figures and tables of a result as lines of Markdown."""
    yield from (f"# {experiment.name}", "", READERS, "", experiment.question, "", f"`{source}`", "")
    for finding in result.findings:
        yield from wrap(f"* {finding}", MAX_LINE_CHARACTERS, subsequent_indent="  ", break_on_hyphens=False)
    figures = [(figure.label, _value(figure), _published(figure)) for figure in result.figures]
    yield from _markdown_table("Figures, with 95 % intervals", ("", "here", "published"), figures)
    for table in result.tables:
        yield from _markdown_table(table.title, table.heads, table.rows)


def _markdown_table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield from ("", f"## {title}", "")
    for row in (heads, ["---"] * len(heads), *rows):
        yield f"| {' | '.join(row)} |"


def _silent(done: int, total: int) -> None:
    """Ignore the progress: output is not a terminal."""


def _words(figure: Figure) -> str:
    """Return the value of a figure, its 95 % interval, and the published value."""
    published = _published(figure)
    return _value(figure) + (f" (published: {published})" if published else "")


def _value(figure: Figure) -> str:
    words = _number(figure.unit, figure.value)
    if figure.low is not None or figure.high is not None:
        words += f" [{_number(figure.unit, figure.low)}, {_number(figure.unit, figure.high)}]"
    return words


def _published(figure: Figure) -> str:
    if (published := figure.published) is None:
        return ""
    agreement = tolerance_text(figure.unit, published.low, published.high)
    return f"{published.words}{agreement and f' ({agreement})'}; {published.source}"


def _number(unit: Unit, value: float | None) -> str:
    if value is None:
        return "–"
    return percent_text(value) if unit is Unit.SHARE else f"{value:.4g}"
