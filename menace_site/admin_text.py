"""Names of groups, tables and columns in the admin, where Django would show the field names of the code.

The names are set when the site starts. They are not part of the models, so they need no migrations.
"""

from __future__ import annotations

from django.apps import apps

APP_TITLES = {
    "auth": "Accounts",
    "axes": "Log-ins",
    "otp_totp": "Second factor",
    "otp_static": "Second factor: recovery codes",
    "django_celery_beat": "Scheduled tasks",
    "admin": "Log of the staff",
}
TABLE_NAMES = {
    "admin.LogEntry": ("action of the staff", "actions of the staff"),
    "axes.AccessLog": ("log-in", "log-ins"),
    "axes.AccessFailureLog": ("failed log-in", "failed log-ins"),
    "axes.AccessAttempt": ("lock after failed log-ins", "locks after failed log-ins"),
    "django_celery_beat.CrontabSchedule": ("cron expression", "cron expressions"),
    "django_celery_beat.PeriodicTask": ("scheduled task", "scheduled tasks"),
    "games.AddressBlock": ("blocked address", "blocked addresses"),
    "games.ApiToken": ("API token", "API tokens"),
    "otp_static.StaticDevice": ("set of recovery codes", "sets of recovery codes"),
    "otp_totp.TOTPDevice": ("authenticator app", "authenticator apps"),
}
_LOG_IN_COLUMNS = {
    "attempt_time": "time",
    "username": "name",
    "ip_address": "address",
    "user_agent": "browser",
    "path_info": "page",
}
_DEVICE_COLUMNS = {"user": "account", "confirmed": "in use", "created_at": "set up", "last_used_at": "last used"}
_RESULT_COLUMNS = {"n_wins": "wins", "n_draws": "draws", "n_losses": "losses"}
_JOB_COLUMNS = {
    "knocked_at": "last wake-up",
    "leased_by": "worker",
    "lease_until": "lease ends",
    "cancel_requested": "asked to stop",
    "created_at": "asked for",
    "started_at": "started",
    "finished_at": "ended",
}
COLUMN_NAMES: dict[str, dict[str, str]] = {
    "admin.LogEntry": {
        "action_time": "time",
        "user": "account",
        "content_type": "table",
        "object_repr": "row",
        "action_flag": "action",
        "change_message": "details",
    },
    "axes.AccessLog": {**_LOG_IN_COLUMNS, "logout_time": "logged out"},
    "axes.AccessFailureLog": {**_LOG_IN_COLUMNS, "locked_out": "locked out"},
    "axes.AccessAttempt": {**_LOG_IN_COLUMNS, "failures_since_start": "failed log-ins"},
    "django_celery_beat.PeriodicTask": {
        "name": "name",
        "task": "task",
        "enabled": "active",
        "crontab": "cron expression",
        "interval": "interval",
        "last_run_at": "last run",
        "one_off": "once only",
        "total_run_count": "times run",
    },
    "otp_static.StaticDevice": _DEVICE_COLUMNS,
    "otp_totp.TOTPDevice": _DEVICE_COLUMNS,
    "games.AddressBlock": {"created_by": "blocked by", "created_at": "blocked since"},
    "games.ApiToken": {
        "user": "account",
        "prefix": "begins with",
        "created_at": "made",
        "expires_at": "expires",
        "revoked_at": "revoked",
        "last_used_at": "last used",
    },
    "games.Match": {
        "n_plies": "moves",
        "termination": "how it ended",
        "created_at": "begun",
        "finished_at": "ended",
        "answer_by": "thinking until",
    },
    "games.Room": {
        "fresh": "plays copies",
        "changed_at": "last change",
        "created_at": "opened",
        "opened_from": "hash of the address",
        "host_guest": "host without an account",
    },
    "games.Seat": {"user": "account"},
    "games.Ply": {"played_at": "played"},
    "learning.Box": {"move_number": "move", "start": "beads at first", "visits": "times played"},
    "learning.Classroom": {
        "is_locked": "locked",
        "n_pupils": "pupils expected",
        "created_at": "opened",
        "finished_at": "finished",
    },
    "learning.ExperimentRun": {**_JOB_COLUMNS, "user": "account"},
    "learning.Lesson": {**_RESULT_COLUMNS, "kind": "cause", "created_at": "time"},
    "learning.Machine": {
        **_RESULT_COLUMNS,
        "learns": "learning",
        "is_public": "public",
        "shares": "shares boxes with",
        "n_lessons": "lessons",
        "n_games": "games",
        "n_removed": "moves removed",
        "epsilon": "exploration rate",
        "created_at": "made",
    },
    "learning.Pairing": {
        "n_first_wins": "wins of the first",
        "n_draws": "draws",
        "n_second_wins": "wins of the second",
    },
    "learning.Schedule": {
        "stages": "opponents",
        "next_at": "next run",
        "n_fired": "times run",
        "note": "why the last run did not start",
    },
    "learning.Snapshot": {
        "n_trained": "games trained",
        "n_left": "games left behind",
        "n_lessons": "lessons",
        "games_done": "games of the run",
        "plays_since": "plays since lesson",
        "is_by_hand": "chosen by hand",
        "epsilon": "exploration rate",
    },
    "learning.Tournament": {
        "is_public": "public",
        "n_games": "games of a pairing",
        "n_rounds": "rounds",
        "created_at": "started",
        "finished_at": "ended",
    },
    "learning.TrainingRun": {
        **_RESULT_COLUMNS,
        **_JOB_COLUMNS,
        "n_games": "games",
        "games_done": "games done",
        "most_values": "most values",
        "n_left_out": "values left out",
        "n_measured": "games to measure a snapshot",
    },
    "learning.Value": {"start": "value at first", "n_visits": "times learnt"},
    "learning.Weights": {"n_learnt": "games learnt from"},
}


def install_admin_names() -> None:
    """Set the verbose names of groups, tables and columns. Call this function after the applications are loaded."""
    for label, title in APP_TITLES.items():
        apps.get_app_config(label).verbose_name = title
    for name, (singular, plural) in TABLE_NAMES.items():
        options = apps.get_model(name)._meta
        options.verbose_name, options.verbose_name_plural = singular, plural
    for name, columns in COLUMN_NAMES.items():
        for field, title in columns.items():
            apps.get_model(name)._meta.get_field(field).verbose_name = title
