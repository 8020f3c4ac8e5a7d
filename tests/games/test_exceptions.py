"""Each refusal has its own message, even in an interpreter that strips docstrings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRINT_MESSAGES = """
from games import exceptions
import learning.exceptions

def with_subclasses(error):
    return [error, *(one for child in error.__subclasses__() for one in with_subclasses(child))]

for error in with_subclasses(exceptions.PlayError):
    print(error.__name__, error.message, sep=": ")
print(exceptions.RoomFullError())
"""


def refusal_messages(*flags: str) -> list[str]:
    command = [sys.executable, *flags, "-c", PRINT_MESSAGES]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def test_every_refusal_has_its_message_without_docstrings() -> None:
    *messages, example = refusal_messages("-OO")
    assert example == "Both seats in this room are taken. You can still watch."
    assert len(messages) > 40
    assert all(message.endswith(".") for message in messages)
    assert [*messages, example] == refusal_messages()
