"""What the security page says is there: every test by its name, every requirement of ASVS 4.0.3 level 2 once."""

import re

from menace_site.servers import BASE_DIR

PROMISES = (BASE_DIR / "docs" / "security.md").read_text()
POINTS = (BASE_DIR / "docs" / "asvs.md").read_text()
# Chapter and section, and which numbers of it level 2 asks for.
LEVEL_2 = (
    "1.1:1-7 1.2:1-4 1.4:1,4-5 1.5:1-4 1.6:1-4 1.7:1-2 1.8:1-2 1.9:1-2 1.10:1 1.11:1-2 1.12:2 1.14:1-6 2.1:1-12"
    " 2.2:1-3 2.3:1-3 2.4:1-5 2.5:1-7 2.6:1-3 2.7:1-6 2.8:1-7 2.9:1-3 2.10:1-4 3.1:1 3.2:1-4 3.3:1-4 3.4:1-5 3.5:1-3"
    " 3.7:1 4.1:1-3,5 4.2:1-2 4.3:1-3 5.1:1-5 5.2:1-8 5.3:1-10 5.4:1-3 5.5:1-4 6.1:1-3 6.2:1-6 6.3:1-2 6.4:1-2"
    " 7.1:1-4 7.2:1-2 7.3:1,3-4 7.4:1-3 8.1:1-4 8.2:1-3 8.3:1-8 9.1:1-3 9.2:1-4 10.2:1-2 10.3:1-3 11.1:1-8 12.1:1-3"
    " 12.2:1 12.3:1-6 12.4:1-2 12.5:1-2 12.6:1 13.1:1,3-5 13.2:1-3,5-6 13.3:1-2 13.4:1-2 14.1:1-4 14.2:1-6 14.3:2-3"
    " 14.4:1-7 14.5:1-4"
)
STATES = {"met", "in part", "not met", "not applicable"}


def numbers(text: str) -> list[int]:
    """The numbers that such a list as ``1,4-6`` stands for."""
    ends = [[int(end) for end in one.split("-")] for one in text.split(",")]
    return [number for end in ends for number in range(end[0], end[-1] + 1)]


def test_every_test_that_is_named_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PROMISES + POINTS)
    assert len(named) > 30
    for path, name in named:
        assert re.search(rf"def {name}\(", (BASE_DIR / path).read_text()), f"{path}::{name}"


def test_every_file_that_is_named_exists() -> None:
    for path in re.findall(r"`((?:menace_site|games|learning|tests|docs)/[\w/.-]+\.\w+)", PROMISES + POINTS):
        assert (BASE_DIR / path).exists(), path


def test_every_requirement_is_answered_once() -> None:
    wanted = [
        f"{section}.{number}"
        for section, _, listed in (one.partition(":") for one in LEVEL_2.split())
        for number in numbers(listed)
    ]
    assert len(wanted) == 259
    answered = []
    for line in re.findall(r"^\| (\d+\.\d+\.[\d,-]+) \| (.+?) \| (.+?) \| (.+) \|$", POINTS, re.MULTILINE):
        place, _, state, how = line
        assert state in STATES, place
        assert how.strip("– "), place
        section, _, listed = place.rpartition(".")
        answered += [f"{section}.{number}" for number in numbers(listed)]
    assert answered == wanted
