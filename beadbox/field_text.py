"""Validation messages of fields, shared by forms, serializers, socket frames and the rules of machines."""

from __future__ import annotations

from collections.abc import Iterable

REQUIRED = "Please fill this in."
MISSING = "This field is missing."
NUMBER = "Please give a number."
WHOLE_NUMBER = "Please give a whole number."
WHOLE_NUMBERS = "Please give whole numbers in a list."
EVEN_NUMBER = "Please give an even number: half of the games are played on each side."
TRUE_OR_FALSE = "Please say true or false."
TEXT = "Please give a text."
LIST = "Please give a list."
OBJECT = "Please give an object with named fields."
SLUG = "Please use only the letters a to z, digits, hyphens and underscores."
NO_FILE = "Please choose a file."
EMPTY_FILE = "This file is empty."
NOT_TOGETHER = "Please give only one of these two: {}."


def rather(sentence: str, value: object) -> str:
    """Return the sentence with the refused value at its end."""
    return f"{sentence.removesuffix('.')}, not {value}."


def at_least(number: object) -> str:
    """Return the message for a number that is too small."""
    return f"Please give at least {number}."


def at_most(number: object) -> str:
    """Return the message for a number that is too large."""
    return f"Please give at most {number}."


def between(least: object, most: object) -> str:
    """Return the message for a number outside its range."""
    return f"Please give a number from {least} to {most}."


def at_most_characters(number: object) -> str:
    """Return the message for a text that is too long."""
    return f"Please use at most {number} characters."


def at_least_characters(number: object) -> str:
    """Return the message for a text that is too short."""
    return f"Please use at least {number} characters."


def at_least_entries(number: object) -> str:
    """Return the message for a list that is too short."""
    return f"Please choose at least {number}."


def at_most_entries(number: object) -> str:
    """Return the message for a list that is too long."""
    return f"Please choose at most {number}."


def one_of(choices: Iterable[object]) -> str:
    """Return the message for an unknown choice, with the list of choices."""
    return f"Please choose one of these: {', '.join(map(str, choices))}."


def not_a_choice(text: object) -> str:
    """Return the message for an unknown choice where the choices are too many to list, or are visible."""
    return f"“{text}” is not one of the choices."


def unknown_field(known: Iterable[str], name: str = "") -> str:
    """Return the message for an unknown field, with the list of known fields.

    ``name`` is the unknown field, for places where the message does not stand at that field.
    """
    return f"There is no {f'field {name}' if name else 'such field'}. The fields are {', '.join(known)}."
