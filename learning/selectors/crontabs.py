"""Crontabs in a time zone: the parsing of their text, and their next due moments.

Celery stores crontabs and sends wake-ups by them. Celery knows neither 7 for Sunday nor the last day of a month, and it
skips or repeats hours when clocks change. So this module translates the text for Celery, and computes the due moments
itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

CRONTAB_FIELDS = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
LAST_DAY = "28-31/01"
"""The stored form of the last day of the month. Celery sends a wake-up on days 28 to 31.

The step ``/01`` marks it: the days ``28-31/01`` of a user are stored as ``28-31``.
"""
MAX_CLOCK_CHANGE = timedelta(hours=3)
"""A time longer than every change of clocks."""
MAX_DAYS = 366 * 41
"""Maximum number of days searched. 29 February falls on each weekday within 40 years, even if 2100 is among them."""

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_WEEKDAYS = "sun mon tue wed thu fri sat"
_NAMES = {"month_of_year": _MONTHS.replace(" ", "|"), "day_of_week": _WEEKDAYS.replace(" ", "|")}
"""Regular expressions of the accepted names. Names may be written in full: only the first three letters count."""
_DAY = timedelta(days=1)


class CrontabError(ValueError):
    """The text is not a valid crontab."""


@dataclass(frozen=True, slots=True)
class Crontab:
    """A parsed crontab in a time zone: the numbers that each field allows; Sunday is 0.

    A due day is in ``days`` *and* in ``weekdays``; ``last_day`` adds the last day of each month to ``days``.
    """

    minutes: Collection[int]
    hours: Collection[int]
    days: Collection[int]
    months: Collection[int]
    weekdays: Collection[int]
    last_day: bool
    hours_are_step: bool
    """Whether the hour field is ``*`` or a step such as ``*/2``. Then elapsed time counts when clocks change."""
    zone: ZoneInfo

    def after(self, moment: datetime) -> datetime:
        """Return the first due moment after ``moment``, in UTC.

        When clocks go forward, a time in the skipped hour, such as 02:30, is due at 03:30. When clocks go back, a time
        in the repeated hour is due only the first time. With ``hours_are_step``, a skipped time is not due, and a
        repeated time is due twice.

        Raises:
            CrontabError: no due moment comes.
        """
        search_begin = moment.astimezone(self.zone).replace(tzinfo=None) - MAX_CLOCK_CHANGE
        for number in range(MAX_DAYS):
            day = search_begin.date() + number * _DAY
            if self._has(day):
                due = min(
                    (candidate for candidate in self._moments(day, search_begin) if candidate > moment), default=None
                )
                if due is not None:
                    return due
        raise CrontabError("This moment never comes.")

    def _has(self, day: date) -> bool:
        is_day = day.day in self.days or (self.last_day and (day + _DAY).day == 1)
        return is_day and day.month in self.months and day.isoweekday() % 7 in self.weekdays

    def _moments(self, day: date, search_begin: datetime) -> Iterator[datetime]:
        """Yield the due moments of a day, in any order, from one hour before ``search_begin`` (local time)."""
        for hour in self.hours:
            if datetime.combine(day, time(hour)) < search_begin - timedelta(hours=1):
                continue
            for minute in self.minutes:
                local = datetime.combine(day, time(hour, minute), self.zone)
                earlier, later = local.astimezone(UTC), local.replace(fold=1).astimezone(UTC)
                if not self.hours_are_step or earlier.astimezone(self.zone).time() == local.time():
                    yield earlier
                if self.hours_are_step and later > earlier:
                    yield later


def crontab_parse(text: str) -> dict[str, str]:
    """Parse the text of a crontab; return its five fields by name, in the form that Celery reads.

    Sunday as 7 becomes 0, and the last day of the month becomes ``LAST_DAY``.

    Raises:
        CrontabError: the text does not have the form of a crontab. The range of each number is left to Celery.
    """
    words = text.split()
    if len(words) != len(CRONTAB_FIELDS):
        raise CrontabError("Please give five fields: minute, hour, day of month, month, day of week, as in 0 3 * * *.")
    return {
        name: ",".join(_parse_part(name, part) for part in word.lower().split(","))
        for name, word in zip(CRONTAB_FIELDS, words, strict=True)
    }


def crontab_format(fields: dict[str, str]) -> str:
    """Return the text of a crontab from its five fields, as a person writes it."""
    days = ",".join("L" if day == LAST_DAY else day for day in fields["day_of_month"].split(","))
    return " ".join({**fields, "day_of_month": days}[name] for name in CRONTAB_FIELDS)


def has_both_days(day_of_month: str, day_of_week: str) -> bool:
    """Whether a crontab restricts both days of the month and weekdays.

    Here a due day satisfies both; in other programs it satisfies either, so pages explain the difference.
    """
    return not (day_of_month.startswith("*") or day_of_week.startswith("*"))


def _parse_part(name: str, part: str) -> str:
    if name == "day_of_month" and part in ("l", "last"):
        return LAST_DAY
    number = rf"\d{{1,2}}|(?:{_NAMES[name]})[a-z]*" if name in _NAMES else r"\d{1,2}"
    match = re.fullmatch(rf"(?:\*|({number})(?:-({number}))?)(?:/(\d{{1,2}}))?", part, re.ASCII)
    if match is None or (match[3] and (int(match[3]) == 0 or (match[1] and not match[2]))):
        raise CrontabError(f"{part[:20]!r} is not a valid {name.replace('_', ' ')}.")
    if name == "day_of_week" and "7" in (match[1], match[2]):
        return _weekdays(match[1], match[2], int(match[3] or 1))
    return "28-31" if part == LAST_DAY else part


def _weekdays(first: str, last: str | None, step: int) -> str:
    """Return the numbers, as text, of a range of weekdays that begins or ends with 7; 7 is Sunday, like 0."""
    names = _WEEKDAYS.split()
    low, high = (int(day) if day.isdigit() else names.index(day[:3]) for day in (first, last or first))
    if low == 7 and high != 7:
        low = 0
    days = range(low, high + 1) if low <= high else [*range(low, 7), *range(high + 1)]
    return ",".join(str(day % 7) for day in days[::step])


@cache
def _zones() -> dict[str, str]:
    # "localtime" is the server's own zone, and "Factory" is a placeholder: neither is a user's zone.
    return {name.lower(): name for name in available_timezones() - {"localtime", "Factory"}}


def zone_name(text: str) -> str:
    """Return the name of a time zone as spelt in the time zone database; the case of ``text`` does not matter.

    Raises:
        CrontabError: there is no such zone.
    """
    name = _zones().get(text.strip().lower())
    if name is None:
        raise CrontabError(f"There is no time zone {text.strip()[:40]!r}. An example is Europe/London.")
    return name
