"""Each refusal has its own sentence, even in an interpreter that strips docstrings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRINT_REFUSALS = """
from games import exceptions
import learning.exceptions

def below(error):
    return [error, *(one for child in error.__subclasses__() for one in below(child))]

for error in below(exceptions.PlayError):
    print(error.__name__, error.message, sep=": ")
print(exceptions.RoomFullError())
"""


def refusal_sentences(*flags: str) -> list[str]:
    command = [sys.executable, *flags, "-c", PRINT_REFUSALS]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def test_every_refusal_keeps_its_sentence_without_docstrings() -> None:
    *sentences, shown = refusal_sentences("-OO")
    assert shown == "Both seats in this room are taken. You can still watch."
    assert len(sentences) > 40
    assert all(sentence.endswith(".") for sentence in sentences)
    assert [*sentences, shown] == refusal_sentences()
