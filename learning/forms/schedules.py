"""When a schedule starts its runs."""

from __future__ import annotations

from typing import Any

from django import forms

from learning.forms.base import PlainForm, SeedField
from learning.services.schedules import MOST, PERIODS, Timing

DAYS = (("1", "Mon"), ("2", "Tue"), ("3", "Wed"), ("4", "Thu"), ("5", "Fri"), ("6", "Sat"), ("0", "Sun"))


class TimingForm(PlainForm):
    """When a schedule starts its runs, in three ways; and its seed."""

    kind = forms.ChoiceField(
        label="When",
        widget=forms.RadioSelect,
        choices=[("every", "Again and again"), ("daily", "At a time of day"), ("crontab", "By a crontab")],
        initial="every",
    )
    every = forms.IntegerField(
        label="Every", min_value=1, max_value=max(MOST.values()), required=False, initial=6, localize=False
    )
    period = forms.ChoiceField(label="of these", choices=[(p, p) for p in PERIODS], required=False, initial="hours")
    at = forms.TimeField(
        label="At (UTC)",
        required=False,
        initial="18:00",
        widget=forms.TimeInput(format="%H:%M", attrs={"type": "time"}),
        input_formats=["%H:%M"],
    )
    days = forms.MultipleChoiceField(
        label="On these days", choices=DAYS, required=False, widget=forms.CheckboxSelectMultiple, help_text="None: all."
    )
    crontab = forms.CharField(
        label="Crontab (UTC)",
        max_length=300,
        required=False,
        help_text="Minute, hour, day of month, month, day of week: 30 6 * * 1-5 is 06:30 from Monday to Friday.",
    )
    seed = SeedField(required=False, help_text="Leave it empty for a fresh one each time.")

    def clean(self) -> dict[str, Any]:
        """The way chosen becomes ``timing``."""
        data: dict[str, Any] = super().clean() or {}
        kind = data.get("kind")
        needed = {"every": "every", "daily": "at", "crontab": "crontab"}.get(str(kind), "kind")
        if needed not in self.errors and not data.get(needed):
            self.add_error(needed, "Please fill this in.")
        if self.errors:
            return data
        if kind == "every":
            data["timing"] = Timing(every=data["every"], period=data["period"])
        elif kind == "daily":
            data["timing"] = Timing(
                crontab=f"{data['at'].minute} {data['at'].hour} * * {','.join(data['days']) or '*'}"
            )
        else:
            data["timing"] = Timing(crontab=data["crontab"])
        return data


def timing_to_form(timing: Timing) -> dict[str, Any]:
    """The first values of the form for a schedule that there is already."""
    if not timing.crontab:
        return {"kind": "every", "every": timing.every, "period": timing.period}
    minute, hour, day, month, weekdays = timing.crontab.split()
    days = [] if weekdays == "*" else weekdays.split(",")
    plain = minute.isdigit() and hour.isdigit() and day == month == "*" and set(days) <= {value for value, _ in DAYS}
    if plain:
        return {"kind": "daily", "at": f"{int(hour):02d}:{int(minute):02d}", "days": days, "crontab": timing.crontab}
    return {"kind": "crontab", "crontab": timing.crontab}
