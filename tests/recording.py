"""Compares the site's public behaviour with recordings in ``tests/data/recorded``; ``RECORD=1`` writes the recordings.

As a program, this module prints the names that other systems know: tasks, loggers, commands, metrics, settings. Tests
run it in a separate process, because it imports all modules of the site.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import pkgutil
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from beadbox import __version__

ROOT = Path(__file__).resolve().parent.parent
RECORDED_FOLDER = ROOT / "tests" / "data" / "recorded"
MAX_DIFF_LINES = 80
TIME = re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?")
CODE = re.compile(r'"code": "([a-hjkmnp-z2-9]{6})"')
TOKEN = re.compile(r'("(?:seat_)?token": )"[^"]+"')
SLUG = re.compile(r"\bm-[a-z2-9]{10}\b")
SHORT_LIST = re.compile(r"\[\n([^][{}]{1,200}?)\n *\]")
SETTING = re.compile(
    r"""\benv\.\w+\(\s*"([A-Z_]+)"|os\.environ[\w.]*[(\[]"([A-Z_]+)"|"([A-Z_]+)" (?:not )?in os\.environ"""
)
"""Matches code that reads an environment variable. One of the three groups is its name."""


def compare_with_recording(name: str, value: Any) -> None:
    """Fail if a value differs from the recording of this name. A value that is no text is recorded as JSON."""
    text = with_placeholders(value if isinstance(value, str) else to_indented_json(value))
    file = RECORDED_FOLDER / name
    if os.environ.get("RECORD"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    before = file.read_text() if file.exists() else ""
    if before != text:
        lines = list(difflib.unified_diff(before.splitlines(), text.splitlines(), f"recorded {name}", "now", n=6))
        more = [f"… and {len(lines) - MAX_DIFF_LINES} more lines"] if len(lines) > MAX_DIFF_LINES else []
        raise AssertionError("\n".join([f"{name} is not as it was recorded:", *lines[:MAX_DIFF_LINES], *more]))


def to_indented_json(value: Any) -> str:
    """Return a value as indented JSON, in which each short list of numbers and texts is on one line."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    return SHORT_LIST.sub(lambda short: f"[{' '.join(short[1].split())}]", text) + "\n"


def with_placeholders(text: str) -> str:
    """Return a text in which placeholders replace times, room codes, random slugs, tokens and the version."""
    for code in CODE.findall(text):
        text = text.replace(code, "<code>")
    text = SLUG.sub("<slug>", text.replace(__version__, "<version>"))
    return TIME.sub("<time>", TOKEN.sub(r'\1"<token>"', text))


def packages() -> set[str]:
    """Return the names of the site's top-level packages."""
    return {file.parent.name for file in ROOT.glob("*/__init__.py")} - {"tests"}


def sources() -> Iterator[Path]:
    for package in sorted(packages()):
        yield from sorted((ROOT / package).rglob("*.py"))
    yield ROOT / "manage.py"


def import_everything() -> None:
    for package in sorted(packages()):
        for module in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            if ".migrations" not in module.name and not module.name.endswith("__main__"):
                import_module(module.name)


def subclasses_of(kind: type) -> set[type]:
    """Return all direct and indirect subclasses."""
    return {subclass for child in kind.__subclasses__() for subclass in (child, *subclasses_of(child))}


def public_names() -> dict[str, Any]:
    """Return all names that other systems know."""
    import logging

    from django.apps import apps
    from django.conf import settings
    from django.core.management import get_commands
    from prometheus_client import REGISTRY

    from menace_site.api.docs import refusal_codes
    from menace_site.celery import app

    import_everything()
    our_packages = packages() | {"beadbox"}
    tasks = sorted(name for name in app.tasks if not name.startswith("celery."))
    our_apps = {config.name for config in apps.get_app_configs() if config.name.partition(".")[0] in packages()}
    metrics = {
        metric
        for metric in REGISTRY._names_to_collectors.values()
        if getattr(metric, "_name", "").startswith("beadbox")
    }
    variables: set[str] = set()
    for file in sources():
        variables |= {next(filter(None, groups)) for groups in SETTING.findall(file.read_text())}
    return {
        "tasks": {name: app.amqp.router.route({}, name)["queue"].name for name in tasks},
        "queues": sorted(app.amqp.queues),
        "beat": {
            name: {**entry, "schedule": str(entry["schedule"])}
            for name, entry in sorted(settings.CELERY_BEAT_SCHEDULE.items())
        },
        "loggers": sorted(
            name
            for name, logger in logging.root.manager.loggerDict.items()
            if isinstance(logger, logging.Logger) and name.partition(".")[0] in our_packages
        ),
        "commands": {
            name: options_of(name) for name, app_name in sorted(get_commands().items()) if app_name in our_apps
        },
        "metrics": {
            metric._name: [metric._type, list(metric._labelnames), metric._documentation]
            for metric in sorted(metrics, key=lambda metric: metric._name)
        },
        "settings": sorted(variables),
        "refusals": refusals(),
        "codes": refusal_codes(),
    }


def refusals() -> list[list[Any]]:
    """Return for each refusal of a service its code, status, message and seconds until a retry."""
    from games.exceptions import PlayError

    rows = {(error.code, error.status, error.message, error.retry_after_s) for error in subclasses_of(PlayError)}
    return sorted(map(list, rows), key=str)


def options_of(command: str) -> dict[str, Any]:
    """Return the options of a command and of its subcommands, without the options of every Django command."""
    from django.core.management import BaseCommand, get_commands, load_command_class

    common_options = {action.dest for action in BaseCommand().create_parser("manage.py", "any")._actions}
    app_name = get_commands()[command]
    return parser_options(load_command_class(app_name, command).create_parser("manage.py", command), common_options)


def parser_options(parser: argparse.ArgumentParser, common_options: set[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            options |= {name: parser_options(child, common_options) for name, child in action.choices.items()}
        elif action.dest not in common_options:
            choices = None if action.choices is None else sorted(map(str, action.choices))
            default = "<path>" if isinstance(action.default, Path) else str(action.default)
            options[" ".join(action.option_strings) or action.dest] = [
                action.nargs, action.required, default, choices, action.help,
            ]  # fmt: skip
    return options


if __name__ == "__main__":
    import django

    django.setup()
    json.dump(public_names(), sys.stdout, ensure_ascii=False)
