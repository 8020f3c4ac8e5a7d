"""System checks of the settings. Their errors stop ``migrate`` and ``check``."""

import os
from collections.abc import Sequence
from ipaddress import ip_address, ip_network
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import INFO, CheckMessage, Error
from django.core.exceptions import ImproperlyConfigured
from django.http.request import validate_host

from menace_site.server.origins import parse_origin

SECRET_KEY_MIN_CHARACTERS = 50
REMOVED_SETTINGS = {
    "THROTTLE_API": ("THROTTLE_ANON", "THROTTLE_USER", "THROTTLE_TOKEN", "THROTTLE_AI"),
    "THROTTLE_LIVE": ("THROTTLE_ROOMS", "THROTTLE_NEWS", "THROTTLE_SOCKET"),
    "THROTTLE_ROOM": ("THROTTLE_SEAT", "THROTTLE_WATCH"),
    "THROTTLE_WRITE": ("THROTTLE_PAGE", "THROTTLE_TRAINING"),
    "THROTTLE_GUESS": ("THROTTLE_LOGIN", "THROTTLE_SIGNUP", "THROTTLE_RESET"),
    "THROTTLE_ACCOUNT": ("THROTTLE_GUESS_ACCOUNT", "THROTTLE_LOGIN_ACCOUNT", "THROTTLE_LOGGED_IN"),
    "THROTTLE_MAILBOX": ("THROTTLE_RESET_MAILBOX",),
    "": (
        "THROTTLE_SCHOOLING", "AI_THREADS", "AI_QUICK_TIME_BUDGET_S", "THINKERS", "VALUES_PER_ROOM_COPY",
        "VALUES_PER_GUEST", "VALUES_PER_ADDRESS", "RUNS_PER_MACHINE", "RUN_DAYS_MOST", "TOURNAMENTS_PER_ACCOUNT",
        "KEEP_EXPERIMENTS_DAYS", "EXPERIMENTS_KEPT", "LOG_IN_FAILURES_KEPT", "KEEP_TOKENS_DAYS", "AI_SHORT_ROAD",
    ),
}  # fmt: skip
"""Settings that are no longer read, by their replacement; an empty text for settings without one."""
SMTP_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
CONSOLE_BACKEND = "django.core.mail.backends.console.EmailBackend"


def _secret_key() -> str:
    try:
        return str(settings.SECRET_KEY)
    except ImproperlyConfigured:  # Django raises it for an empty key.
        return ""


def _is_network(text: str) -> bool:
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _keeps_letters_secret() -> bool:
    """Whether e-mails are encrypted, stay on this computer, or are not sent at all."""
    if not settings.SENDS_LETTERS:
        return True
    is_encrypted = settings.EMAIL_USE_TLS or settings.EMAIL_USE_SSL or settings.EMAIL_WITHOUT_TLS
    return settings.EMAIL_BACKEND == SMTP_BACKEND and (is_encrypted or _is_this_machine(settings.EMAIL_HOST))


def _site_url_fault() -> str:
    """Return a sentence that says how to correct ``SITE_URL``, or an empty text."""
    if not settings.SITE_URL:
        is_needed = settings.SENDS_LETTERS and settings.EMAIL_BACKEND != CONSOLE_BACKEND
        return "Set SITE_URL to the origin of this site: links in letters begin with it." if is_needed else ""
    origin = parse_origin(settings.SITE_URL) if settings.SITE_URL.isascii() else None
    if origin is None or (origin[0] == "http" and not settings.LOCAL):
        return f"SITE_URL is {settings.SITE_URL!r}: set it to an origin such as https://beads.example, without a path."
    host = f"[{origin[1]}]" if ":" in origin[1] else origin[1]
    if settings.ALLOWED_HOSTS and not validate_host(host, settings.ALLOWED_HOSTS):
        return f"Add the host of SITE_URL, {host}, to ALLOWED_HOSTS."
    return ""


def check_settings(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Return messages on unsafe, missing and obsolete settings; in a local run only those that matter there."""
    fault = _site_url_fault()
    messages: list[CheckMessage] = [Error(fault, id="beadbox.E008")] if fault else []
    for replacement, names in REMOVED_SETTINGS.items():
        for name in os.environ.keys() & set(names):
            hint = (
                f"Set {replacement} instead (docs/operating.md)."
                if replacement
                else "Its default is the rule now: unset it."
            )
            # The level is INFO, because a warning would keep the site of docker-compose.yml from starting.
            messages.append(
                CheckMessage(INFO, f"{name} is set, and the site no longer reads it.", hint, id="beadbox.I002")
            )
    if not all(map(_is_network, settings.METRICS_ADDRESSES)):
        text = "Set METRICS_ADDRESSES to addresses or networks, such as 10.0.0.0/8, separated by commas."
        messages.append(Error(text, id="beadbox.E006"))
    if settings.LOCAL:
        return messages
    key = _secret_key()
    unsafe = {
        "beadbox.E001": (
            len(key) < SECRET_KEY_MIN_CHARACTERS or len(set(key)) < 5 or key.startswith("django-insecure-"),
            f"Set SECRET_KEY to a random text of at least {SECRET_KEY_MIN_CHARACTERS} characters.",
        ),
        "beadbox.E002": (
            not settings.ALLOWED_HOSTS or "*" in settings.ALLOWED_HOSTS,
            "Set ALLOWED_HOSTS to the names of this site, separated by commas, without a wildcard for all.",
        ),
        "beadbox.E003": (settings.DEBUG, "Unset DEBUG: it shows settings and source to visitors."),
        "beadbox.E004": (not settings.DATABASE_URL, "Set DATABASE_URL to a PostgreSQL."),
        "beadbox.E005": (not settings.REDIS_URL, "Set REDIS_URL to a Redis or Valkey."),
        "beadbox.E007": (
            not _keeps_letters_secret(),
            "Set EMAIL_URL to smtp+tls://, smtp+ssl:// or dummymail://, or EMAIL_WITHOUT_TLS on a network of your own.",
        ),
    }
    messages += [Error(text, id=name) for name, (is_unsafe, text) in unsafe.items() if is_unsafe]
    if not settings.STAFF_SECOND_FACTOR:
        hint = "Unset it, unless something in front of /admin/ asks for a second factor."
        sentence = "STAFF_SECOND_FACTOR is off: a password is all that the staff's pages ask for."
        # The level is INFO: operators set this on purpose, and a warning would keep docker-compose.yml from starting.
        messages.append(CheckMessage(INFO, sentence, hint, id="beadbox.I001"))
    return messages
