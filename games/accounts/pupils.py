"""Pupils in classes: a browser that acts under the guest number of a pupil, and keeps its own number for later.

A class shares one address. So quotas and rates of an address count each pupil alone.
"""

from __future__ import annotations

from typing import Any, TypedDict
from uuid import UUID

from games.accounts.authentication import GUEST_KEY, PUPIL_KEY


class PupilFacts(TypedDict):
    """The pupil of a browser, as its session holds it and each page shows it."""

    participant: int
    classroom: int
    name: str
    code: str
    before: str
    """The guest number of the browser outside the class; empty without one."""


def pupil_enter(session: Any, guest: UUID, *, participant: int, classroom: int, name: str, code: str) -> None:
    """Make a browser the browser of a pupil with this guest number; it may have been another pupil's."""
    facts: PupilFacts = {
        "participant": participant,
        "classroom": classroom,
        "name": name,
        "code": code,
        "before": own_guest_of(session),
    }
    session[PUPIL_KEY] = facts
    session[GUEST_KEY] = guest.hex


def pupil_leave(session: Any) -> None:
    """Give a browser its own guest number back."""
    before = own_guest_of(session)
    session.pop(PUPIL_KEY, None)
    own_guest_set(session, before)


def pupil_of(session: Any) -> PupilFacts | None:
    """Return the pupil of a browser; ``None`` outside a class."""
    facts: PupilFacts | None = session.get(PUPIL_KEY)
    return facts


def own_guest_of(session: Any) -> str:
    """Return the guest number of a browser outside a class, in hexadecimal; empty without one."""
    pupil = pupil_of(session)
    number: str = session.get(GUEST_KEY, "") if pupil is None else pupil["before"]
    return number


def own_guest_set(session: Any, number: str) -> None:
    """Change the guest number of a browser outside a class; an empty number removes it."""
    pupil = pupil_of(session)
    if pupil is not None:
        session[PUPIL_KEY] = {**pupil, "before": number}
    elif number:
        session[GUEST_KEY] = number
    else:
        session.pop(GUEST_KEY, None)
