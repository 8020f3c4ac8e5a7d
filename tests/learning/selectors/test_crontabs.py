"""Crontabs in time zones: clock changes, last days of months, and Sunday as 0 and 7."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise

import pytest
from celery.schedules import crontab as celery_crontab
from hypothesis import given
from hypothesis import strategies as st

from learning.selectors.crontabs import CrontabError, crontab_format, crontab_parse, has_both_days, zone_name
from learning.selectors.schedules import crontab_from_fields


def due_times(text: str, zone: str, moment: str, n: int) -> list[str]:
    """Return the next ``n`` due times, in UTC."""
    return [f"{one:%Y-%m-%d %H:%M}" for one in islice(due_moments(text, zone, moment), n)]


def local_due_times(text: str, zone: str, moment: str, n: int) -> list[str]:
    """Return the next ``n`` due times, in local time of the zone."""
    crontab = crontab_from_fields(tuple(crontab_parse(text).values()), zone)
    return [f"{one.astimezone(crontab.zone):%a %Y-%m-%d %H:%M}" for one in islice(due_moments(text, zone, moment), n)]


def due_moments(text: str, zone: str, moment: str) -> Iterator[datetime]:
    crontab = crontab_from_fields(tuple(crontab_parse(text).values()), zone)
    due = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    while True:
        due = crontab.after(due)
        yield due


class TestZones:
    def test_weekdays_are_those_of_the_zone(self) -> None:
        mondays = local_due_times("0 18 * * mon", "Pacific/Auckland", "2026-03-28T00:00", 3)
        assert mondays == ["Mon 2026-03-30 18:00", "Mon 2026-04-06 18:00", "Mon 2026-04-13 18:00"]
        # Summer time ends on 5 April.
        assert due_times("0 18 * * 1", "Pacific/Auckland", "2026-03-28T00:00", 2) == [
            "2026-03-30 05:00",
            "2026-04-06 06:00",
        ]
        assert due_times("0 8 * * 1", "Pacific/Auckland", "2026-06-01T00:00", 1) == ["2026-06-07 20:00"], (
            "a Sunday in UTC"
        )

    def test_time_skipped_by_the_clock_comes_after_the_gap(self) -> None:
        """A time skipped in spring comes as many minutes after the gap as it lies in it."""
        nights = local_due_times("30 2 * * *", "Europe/Berlin", "2026-03-27T12:00", 3)
        assert nights == ["Sat 2026-03-28 02:30", "Sun 2026-03-29 03:30", "Mon 2026-03-30 02:30"]

    def test_a_repeated_hour_counts_once(self) -> None:
        nights = due_times("30 2 * * *", "Europe/Berlin", "2026-10-23T12:00", 3)
        assert nights == ["2026-10-24 00:30", "2026-10-25 00:30", "2026-10-26 01:30"]
        half_hours = due_times("0,30 2,3 * * *", "Europe/Berlin", "2026-10-24T12:00", 5)
        assert half_hours == [f"2026-10-25 {at}" for at in ("00:00", "00:30", "02:00", "02:30")] + ["2026-10-26 01:00"]

    @pytest.mark.parametrize("start", ["2026-03-28T22:30", "2026-10-24T22:30"])
    def test_hourly_crontabs_ignore_clock_changes(self, start: str) -> None:
        moments = list(islice(due_moments("0 * * * *", "Europe/Berlin", start), 8))
        assert {later - earlier for earlier, later in pairwise(moments)} == {timedelta(hours=1)}
        quarters = list(islice(due_moments("*/15 * * * *", "Europe/Berlin", start), 30))
        assert {later - one for one, later in pairwise(quarters)} == {timedelta(minutes=15)}

    def test_fixed_times_in_a_gap_are_left_out(self) -> None:
        evens = local_due_times("0 */2 * * *", "Europe/Berlin", "2026-03-28T22:30", 3)
        assert evens == ["Sun 2026-03-29 00:00", "Sun 2026-03-29 04:00", "Sun 2026-03-29 06:00"]

    @pytest.mark.parametrize(
        ("zone", "text", "moment", "moments"),
        [
            # Clocks go from 00:00 to 01:00 on Friday 24 April, and back from 24:00 to 23:00 on 29 October.
            ("Africa/Cairo", "0 0 * * 5", "2026-04-20T00:00", ["2026-04-23 22:00", "2026-04-30 21:00"]),
            ("Africa/Cairo", "30 23 * * *", "2026-10-29T12:00", ["2026-10-29 20:30", "2026-10-30 21:30"]),
            # A change by half an hour.
            ("Australia/Lord_Howe", "15 2 * * *", "2026-10-03T00:00", ["2026-10-03 15:45", "2026-10-04 15:15"]),
            ("Australia/Lord_Howe", "45 1 * * *", "2026-04-04T00:00", ["2026-04-04 14:45", "2026-04-05 15:15"]),
            # A change by two hours.
            ("Antarctica/Troll", "30 1 * * *", "2026-10-24T12:00", ["2026-10-24 23:30", "2026-10-26 01:30"]),
            ("Asia/Kathmandu", "0 9 * * *", "2026-01-01T00:00", ["2026-01-01 03:15", "2026-01-02 03:15"]),
            # The zone skipped 30 December 2011.
            ("Pacific/Apia", "0 9 * * *", "2011-12-29T00:00", ["2011-12-29 19:00", "2011-12-30 19:00"]),
        ],
    )
    def test_clock_changes_of_other_zones(self, zone: str, text: str, moment: str, moments: list[str]) -> None:
        assert due_times(text, zone, moment, len(moments)) == moments

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("Europe/Berlin", "Europe/Berlin"),
            (" europe/berlin ", "Europe/Berlin"),
            ("Asia/Calcutta", "Asia/Calcutta"),
            ("US/Eastern", "US/Eastern"),
            ("NZ", "NZ"),
            ("utc", "UTC"),
            ("Etc/GMT+12", "Etc/GMT+12"),
        ],
    )
    def test_older_names_of_zones_are_known(self, text: str, name: str) -> None:
        assert zone_name(text) == name

    @pytest.mark.parametrize(
        "text", ["", "Berlin", "Europe/Atlantis", "../etc/passwd", "/etc/localtime", "UTC+1", "a\0b"]
    )
    def test_unknown_zones_are_refused(self, text: str) -> None:
        with pytest.raises(CrontabError, match="There is no time zone"):
            zone_name(text)

    def test_zones_are_known_without_a_system_list(self) -> None:
        code = "from zoneinfo import ZoneInfo; print(ZoneInfo('Pacific/Auckland'))"
        env = {**os.environ, "PYTHONTZPATH": ""}
        assert subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True).stdout


class TestDays:
    def test_the_last_day_of_each_month(self) -> None:
        days = local_due_times("0 9 L * *", "Pacific/Auckland", "2028-01-01T00:00", 4)
        assert [day[4:] for day in days] == [f"2028-{day} 09:00" for day in ("01-31", "02-29", "03-31", "04-30")]
        assert due_times("0 9 L 2 *", "UTC", "2026-01-01T00:00", 3) == [
            f"{day} 09:00" for day in ("2026-02-28", "2027-02-28", "2028-02-29")
        ]

    def test_last_day_with_other_days(self) -> None:
        days = due_times("0 9 15,L * *", "UTC", "2026-02-01T00:00", 3)
        assert days == ["2026-02-15 09:00", "2026-02-28 09:00", "2026-03-15 09:00"]
        assert due_times("0 9 28-31 * *", "UTC", "2026-01-30T12:00", 3) == [
            f"{day} 09:00" for day in ("2026-01-31", "2026-02-28", "2026-03-28")
        ]
        assert due_times("0 9 L * 5", "UTC", "2026-01-01T00:00", 2) == ["2026-07-31 09:00", "2027-04-30 09:00"]

    @pytest.mark.parametrize(
        ("text", "days"),
        [
            ("7", "0"),
            ("0", "0"),
            ("sun", "0"),
            ("Sunday", "0"),
            ("5-7", "5 6 0"),
            ("fri-7", "5 6 0"),
            ("fri-sun", "5 6 0"),
            ("0-7", "0 1 2 3 4 5 6"),
            ("1-7/2", "1 3 5 0"),
            ("7-2", "0 1 2"),
            ("sat-7", "6 0"),
            ("7,1", "0 1"),
            ("mon-fri", "1 2 3 4 5"),
            ("MON,wed", "1 3"),
            ("*/2", "0 2 4 6"),
        ],
    )
    def test_sunday_is_0_and_7_and_has_a_name(self, text: str, days: str) -> None:
        crontab = crontab_from_fields(tuple(crontab_parse(f"0 0 * * {text}").values()), "UTC")
        assert set(crontab.weekdays) == set(map(int, days.split()))

    def test_day_of_month_and_weekday_must_both_match(self) -> None:
        fridays = local_due_times("0 0 13 * fri", "UTC", "2026-01-01T00:00", 3)
        assert fridays == ["Fri 2026-02-13 00:00", "Fri 2026-03-13 00:00", "Fri 2026-11-13 00:00"]
        assert has_both_days("13", "5")
        assert has_both_days("28-31/01", "mon-fri")
        assert not any((has_both_days("13", "*"), has_both_days("*", "5"), has_both_days("*/2", "5")))

    def test_29_february_on_a_weekday(self) -> None:
        assert due_times("0 0 29 2 7", "UTC", "2088-03-01T00:00", 1) == ["2128-02-29 00:00"]


class TestText:
    @pytest.mark.parametrize(
        "text", ["0 9 L * *", "0 9 15,L * *", "*/5 8-17 1,15 1-6/2 *", "0 0 28-31 jan-mar mon-fri"]
    )
    def test_a_crontab_survives_a_round_trip(self, text: str) -> None:
        assert crontab_format(crontab_parse(text)) == text

    @pytest.mark.parametrize(
        "text",
        [
            "0 0 * *",
            "0 0 * * * *",
            "@daily",
            "1-5-7 * * * *",
            "*/0 * * * *",
            "5/15 * * * *",
            "mon * * * *",
            "* * * * mar",
            "* * * mon *",
            "* * 5L * *",
            "* * LW * *",
            "* * * * 5L",
            "* * * * 1#2",
            "* * ? * *",
            "* * ,1 * *",
            "* * *5 * *",
            "\u0661 * * * *",
        ],
    )
    def test_invalid_crontabs_are_refused(self, text: str) -> None:
        with pytest.raises(CrontabError):
            crontab_parse(text)


def crontab_fields(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    number_list = st.lists(number, min_size=1, max_size=4).map(lambda numbers: ",".join(map(str, numbers)))
    span = st.tuples(number, number).map(lambda ends: f"{ends[0]}-{ends[1]}")
    return st.one_of(st.just("*"), number_list, span, st.integers(1, 9).map(lambda step: f"*/{step}"))


@given(
    st.tuples(
        crontab_fields(0, 59), crontab_fields(0, 23), crontab_fields(1, 28), crontab_fields(1, 12), crontab_fields(0, 6)
    ),
    st.integers(0, 6 * 366 * 24 * 3600),
)
def test_due_times_in_utc_equal_those_of_celery(fields: tuple[str, ...], seconds: int) -> None:
    moment = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    minute, hour, day, month, weekday = crontab_parse(" ".join(fields)).values()
    last, delta, _ = celery_crontab(minute, hour, weekday, day, month).remaining_delta(moment)
    assert crontab_from_fields((minute, hour, day, month, weekday), "UTC").after(moment) == last + delta
