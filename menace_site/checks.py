"""System checks for what must not be misconfigured. They are errors: ``migrate`` and ``check`` stop on them."""

from collections.abc import Sequence
from ipaddress import ip_address, ip_network
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import INFO, CheckMessage, Error
from django.core.exceptions import ImproperlyConfigured

SECRET_KEY_MIN_CHARACTERS = 50
SMTP = "django.core.mail.backends.smtp.EmailBackend"


def _secret_key() -> str:
    try:
        return str(settings.SECRET_KEY)
    except ImproperlyConfigured:  # Django's answer to an empty key
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
    """Whether letters go out so that nobody reads them on the way, or not at all."""
    if not settings.SENDS_LETTERS:
        return True
    is_encrypted = settings.EMAIL_USE_TLS or settings.EMAIL_USE_SSL or settings.EMAIL_WITHOUT_TLS
    return settings.EMAIL_BACKEND == SMTP and (is_encrypted or _is_this_machine(settings.EMAIL_HOST))


def check_settings(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """One error for each unsafe or missing setting of a site that is not a local run."""
    if settings.LOCAL:
        return []
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
        "beadbox.E006": (
            not all(map(_is_network, settings.METRICS_ADDRESSES)),
            "Set METRICS_ADDRESSES to addresses or networks, such as 10.0.0.0/8, separated by commas.",
        ),
        "beadbox.E007": (
            not _keeps_letters_secret(),
            "Set EMAIL_URL to smtp+tls://, smtp+ssl:// or dummymail://, or EMAIL_WITHOUT_TLS on a network of your own.",
        ),
    }
    found: list[CheckMessage] = [Error(text, id=name) for name, (is_unsafe, text) in unsafe.items() if is_unsafe]
    if not settings.STAFF_SECOND_FACTOR:
        hint = "Unset it, unless something in front of /admin/ asks for a second factor."
        says = "STAFF_SECOND_FACTOR is off: a password is all that the staff's pages ask for."
        # Information: a warning would keep the site of docker-compose.yml from starting, and it is not set by mistake.
        found.append(CheckMessage(INFO, says, hint, id="beadbox.I001"))
    return found
