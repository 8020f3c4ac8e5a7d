"""Form of the timing and seed of a schedule."""

from __future__ import annotations

from typing import Any

from django import forms

from beadbox import field_text
from learning.forms.base import SeedField
from learning.services.schedules import MAX_INTERVALS, PERIODS, Timing

DAYS = (("1", "Mon"), ("2", "Tue"), ("3", "Wed"), ("4", "Thu"), ("5", "Fri"), ("6", "Sat"), ("0", "Sun"))


class TimingForm(forms.Form):
    """The timing of a schedule, as an interval, a time of day or a cron expression, and its seed."""

    kind = forms.ChoiceField(
        label="When",
        widget=forms.RadioSelect,
        choices=[("every", "At regular intervals"), ("daily", "At a time of day"), ("crontab", "Cron expression")],
        initial="every",
    )
    every = forms.IntegerField(
        label="Every", min_value=1, max_value=max(MAX_INTERVALS.values()), required=False, initial=6, localize=False
    )
    period = forms.ChoiceField(label="Unit", choices=[(p, p) for p in PERIODS], required=False, initial="hours")
    at = forms.TimeField(
        label="At",
        required=False,
        initial="18:00",
        widget=forms.TimeInput(format="%H:%M", attrs={"type": "time"}),
        input_formats=["%H:%M"],
        error_messages={"invalid": "Please give a time like 18:00."},
    )
    days = forms.MultipleChoiceField(
        label="On these days",
        choices=DAYS,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="If you choose no day, it runs every day.",
    )
    last_day = forms.BooleanField(label="Only on the last day of the month", required=False)
    crontab = forms.CharField(
        label="Cron expression",
        max_length=300,
        required=False,
        help_text="Minute, hour, day of month, month, day of week. "
        "For example, 30 6 * * 1-5 is 06:30 from Monday to Friday. "
        "L is the last day of the month. If you give a day of the month and a weekday, both must match.",
    )
    timezone = forms.CharField(
        label="Time zone",
        max_length=64,
        required=False,
        help_text="The time zone for times of day, such as Europe/London.",
    )
    seed = SeedField(required=False, help_text="Leave this empty for a new seed each time.")

    def clean(self) -> dict[str, object]:
        """Convert the fields of the chosen kind of timing to ``timing``."""
        data: dict[str, Any] = super().clean() or {}
        kind = data.get("kind")
        required_field = {"every": "every", "daily": "at", "crontab": "crontab"}.get(str(kind), "kind")
        if required_field not in self.errors and not data.get(required_field):
            self.add_error(required_field, field_text.REQUIRED)
        if self.errors:
            return data
        if kind == "every":
            data["timing"] = Timing(every=data["every"], period=data["period"])
        elif kind == "daily":
            data["timing"] = Timing(
                crontab=f"{data['at'].minute} {data['at'].hour} {'L' if data['last_day'] else '*'} * "
                f"{','.join(data['days']) or '*'}",
                timezone=data["timezone"] or None,
            )
        else:
            data["timing"] = Timing(crontab=data["crontab"], timezone=data["timezone"] or None)
        return data


def timing_to_form(timing: Timing) -> dict[str, object]:
    """Return the form's initial values for the timing of an existing schedule."""
    if not timing.crontab:
        return {"kind": "every", "every": timing.every, "period": timing.period}
    minute, hour, day, month, weekdays = timing.crontab.split()
    days = [] if weekdays == "*" else weekdays.split(",")
    is_daily = minute.isdigit() and hour.isdigit() and day in ("*", "L") and month == "*"
    if is_daily and set(days) <= {value for value, _ in DAYS}:
        time, last_day = f"{int(hour):02d}:{int(minute):02d}", day == "L"
        return {"kind": "daily", "at": time, "days": days, "last_day": last_day, "crontab": timing.crontab}
    return {"kind": "crontab", "crontab": timing.crontab}
