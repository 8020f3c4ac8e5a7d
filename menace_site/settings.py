"""Every setting of the site, from the environment, in one file.

Without ``BEADBOX_LOCAL`` this is production: everything secure, and ``SECRET_KEY``, ``ALLOWED_HOSTS``,
``DATABASE_URL`` and ``REDIS_URL`` must be given (``menace_site/server/checks.py`` says so by name).
``make run`` and ``make test`` set ``BEADBOX_LOCAL=1``: plain http on this machine, private servers where
a URL is missing, and a secret key of its own under ``var/``.
"""

import os
import secrets
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.retry import Retry

from menace_site.local import servers
from menace_site.local.addresses import default_hosts, parse_hosts, parse_list
from menace_site.local.errors import ServerError
from menace_site.server import pooled


class Environment(environ.Env):  # type: ignore[misc]
    """The environment; its lists have no blanks around their entries, and no empty ones."""

    @classmethod
    def parse_value(cls, value: str, cast: Any) -> Any:
        """Read a value as what it is for."""
        return parse_list(value) if cast is list else super().parse_value(value, cast)


env = Environment()
BASE_DIR = servers.BASE_DIR
VAR_DIR = servers.var_dir()

# numba raises at import when it finds no place to keep compiled kernels.
os.environ.setdefault("NUMBA_CACHE_DIR", str(VAR_DIR / "numba"))

# prometheus-client reads this when it is imported, which nothing does before the settings.
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(servers.metrics_dir(VAR_DIR))

LOCAL = env.bool("BEADBOX_LOCAL", default=False)
DEBUG = env.bool("DEBUG", default=False)


def _local_secret_key(file: Path) -> str:
    """Return the key this checkout made for itself, making it first when there is none."""
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as new:
            new.write(secrets.token_urlsafe(64))
    except FileExistsError:
        pass
    return file.read_text()


SECRET_KEY = env.str("SECRET_KEY", default="") or (_local_secret_key(VAR_DIR / "secret_key") if LOCAL else "")
# Keys of before: what they have signed (sessions, letters with a new password) still counts. docs/security.md says how
# a key is changed.
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])
try:
    ALLOWED_HOSTS = parse_hosts(env.str("ALLOWED_HOSTS", default=""))
except ServerError as error:
    raise ImproperlyConfigured(str(error)) from error
# Without a list, one's own computer answers to its own addresses and its name, as far as BIND lets others reach it.
if LOCAL and not ALLOWED_HOSTS:
    ALLOWED_HOSTS = default_hosts(env.str("BIND", default=""))
# The origin under which people reach the site, such as https://beads.example. Links in letters begin with it, and a
# page's WebSocket must come from it; without it, from the scheme, host and port that the request itself names.
SITE_URL = env.str("SITE_URL", default="").strip().rstrip("/")
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[SITE_URL] if SITE_URL else [])

# How many proxies stand before us, each adding one address to X-Forwarded-For. With 0 the header is a claim.
NUM_PROXIES = env.int("NUM_PROXIES", default=0)

INSTALLED_APPS = [
    "menace_site.apps.SiteConfig",
    "games.apps.GamesConfig",
    "learning.apps.LearningConfig",
    "menace_site.apps.StaffConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "channels",
    "django_celery_beat",
    "axes",
    "csp",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "menace_site.server.request_validation.ReadableRequests",
    # Pages with hundreds of boxes; Django's own hides the length of what is secret in them (BREACH).
    "django.middleware.gzip.GZipMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "menace_site.server.slashes.Slashes",
    "django.middleware.csrf.CsrfViewMiddleware",
    "games.accounts.identity.VisitorMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "menace_site.server.page_rates.PageRates",
    "menace_site.server.refusals.Refusals",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "menace_site.urls"
ASGI_APPLICATION = "menace_site.asgi.application"
# Of the staff's pages, whose addresses end with one; all others have none (menace_site/server/slashes.py).
APPEND_SLASH = True

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# Data

DATABASE_URL = env.str("DATABASE_URL", default="") or (servers.private_database_url(VAR_DIR) if LOCAL else "")
REDIS_URL = env.str("REDIS_URL", default="") or (servers.private_redis_url(VAR_DIR) if LOCAL else "")
# Keeps sites, and parallel test runs, apart on one Redis: publish and subscribe knows no database numbers.
REDIS_PREFIX = env.str("REDIS_PREFIX", default="beadbox")

DATABASES: dict[str, Any] = {
    "default": {
        **env.db_url_config(DATABASE_URL or "postgres:///"),
        # Connections kept open under ASGI leak, one for each request: the pool keeps them.
        "CONN_MAX_AGE": 0,
    },
}
# Statements are planned once for each connection of the pool, and not for each move.
DATABASES["default"].setdefault("OPTIONS", {}).update(server_side_binding=True, prepare_threshold=5)
# A database's host that vanished says nothing: after ten seconds its connections are given up, and not after two hours.
DATABASES["default"]["OPTIONS"].update(
    keepalives_idle=5, keepalives_interval=2, keepalives_count=3, tcp_user_timeout=10_000, connect_timeout=5
)
# Only web processes pool: the pool's threads do not survive the fork of a Celery worker.
if env.bool("BEADBOX_DB_POOL", default=False):
    DATABASES["default"]["ENGINE"] = "menace_site.server.pooled"
    DATABASES["default"]["OPTIONS"]["pool"] = {"min_size": 2, "max_size": 6, **pooled.RECONNECTS}

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHES = {
    "default": {
        "BACKEND": "menace_site.server.cache.ForgivingRedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": REDIS_PREFIX,
        # A Redis that hangs costs one request this long, and the others nothing (menace_site/server/cache.py). Of one
        # that was started again the old connections are gone: a second try on a new one.
        "OPTIONS": {
            "socket_connect_timeout": 0.1,
            "socket_timeout": 0.1,
            "retry": Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
        },
    },
}

CHANNEL_LAYERS = {
    "default": {
        # The core layer loses sockets when Redis restarts; this one does not, but buffers nothing.
        "BACKEND": "menace_site.server.channel_layer.SocketLayer",
        "CONFIG": {
            "hosts": [{"address": REDIS_URL, "socket_timeout": 20}],
            "prefix": REDIS_PREFIX,
        },
    },
}

# Jobs: the row is the truth, a message only a knock (docs/decisions/0070-turns.md)


def _celery_url(redis_url: str) -> str:
    """Return the same Redis as Celery spells it, which differs for unix sockets only."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    return f"redis+socket://{parts.path}?virtual_host={parts.query.removeprefix('db=') or '0'}"


CELERY_BROKER_URL = _celery_url(REDIS_URL)
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "global_keyprefix": f"{REDIS_PREFIX}:celery:",
    # A broker that hangs costs whoever knocks this long, once. Else they would wait until it goes on, or, with a new
    # connection, for as many tries as fit into broker_connection_timeout.
    "socket_timeout": 1.0,
    "socket_connect_timeout": 1.0,
    "max_retries": 0,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_DEFAULT_QUEUE = "default"
# What takes turns, and what is short and has a worker of its own: schedules, reapers, the sweep.
CELERY_TASK_QUEUES: dict[str, dict[str, Any]] = {"default": {}, "bulk": {}}
CELERY_TASK_ROUTES = {
    "learning.tasks.jobs_work": {"queue": "bulk"},
    "menace_site.tasks.backup_daily": {"queue": "bulk"},
}
CELERY_TASK_CREATE_MISSING_QUEUES = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULER = "menace_site.operations.scheduler:Scheduler"
# A schedule that was changed is seen within this many seconds.
CELERY_BEAT_MAX_LOOP_INTERVAL = 5
CELERY_BEAT_SCHEDULE = {
    "Take up jobs that were forgotten": {
        "task": "learning.tasks.jobs_reap",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    "Find how strong machines have become": {
        "task": "learning.tasks.standings_keep",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    "Fold up what machines learnt long ago": {
        "task": "learning.tasks.ledgers_keep",
        "schedule": 30.0,
        "options": {"expires": 30},
    },
    "Clear what everybody has left behind": {
        "task": "learning.tasks.sweep",
        "schedule": 3600.0,
        "options": {"expires": 600},
    },
    "Start what schedules missed": {
        "task": "learning.beat.schedules_catch_up",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    # Looks whether it is time: a site that runs for an hour a day has its copy too.
    "Make the daily back-up": {
        "task": "menace_site.tasks.backup_daily",
        "schedule": 300.0,
        "options": {"expires": 300},
    },
    # Step by step, and one query when it has been held.
    "Hold the tournament of the house": {
        "task": "learning.beat.house_tournament_hold",
        "schedule": 20.0,
        "options": {"expires": 20},
    },
}
CELERY_TIMEZONE = "UTC"
CELERY_ENABLE_UTC = True

# Accounts

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "games.accounts.AnySpellingBackend",
    # Sessions name it.
    "django.contrib.auth.backends.ModelBackend",
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
AUTH_PASSWORD_VALIDATORS.append({"NAME": "games.accounts.passwords.LengthValidator"})
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"

# One name from one address: a stranger cannot lock the owner out of their account from elsewhere. Rates of an account
# wherever it is tried from are in games/accounts/log_ins.py.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_USERNAME_CALLABLE = "games.accounts.log_ins.name_counted"
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
# The lock ends when it was said to, however often somebody tries meanwhile; what they try is not written down.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
# What failed stays written down after a log-in too: the attempts that are counted for the lock do not.
AXES_ENABLE_ACCESS_FAILURE_LOG = True
AXES_HANDLER = "games.accounts.log_ins.LogInHandler"
AXES_ENABLE_ADMIN = False  # ours are in menace_site/admin.py
AXES_HTTP_RESPONSE_CODE = 429
AXES_LOCKOUT_CALLABLE = "games.accounts.views.locked_out"
AXES_CLIENT_IP_CALLABLE = "games.accounts.identity.log_in_address"
AXES_VERBOSE = False

# Who has the link of a letter can choose a password, so letters are shown on one's own machine alone; elsewhere none is
# sent until this names who carries them.
EMAIL_CONFIG = env.email_url("EMAIL_URL", default="consolemail://" if LOCAL else "dummymail://")
vars().update(EMAIL_CONFIG)
SENDS_LETTERS = EMAIL_CONFIG["EMAIL_BACKEND"] != env.EMAIL_SCHEMES["dummymail"]
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="Beadbox <noreply@localhost>")
# For a carrier on a private network that knows no TLS.
EMAIL_WITHOUT_TLS = env.bool("EMAIL_WITHOUT_TLS", default=False)
# The letter says so.
PASSWORD_RESET_TIMEOUT = 3600

# Transport and headers

SECURE_SSL_REDIRECT = not LOCAL
# The health checks of a container ask without TLS, from inside.
SECURE_REDIRECT_EXEMPT = [r"^api/health(/live|/ready)?/?$"]
SECURE_HSTS_SECONDS = 0 if LOCAL else 365 * 24 * 3600
# Both bind other sites under the same name, and preloading for months after it is turned off: docs/security.md.
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.bool("HSTS_INCLUDE_SUBDOMAINS", default=False)
SECURE_HSTS_PRELOAD = env.bool("HSTS_PRELOAD", default=False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if NUM_PROXIES else None
SECURE_REFERRER_POLICY = "same-origin"
# A visitor's own machine is kept for 90 days after its last match: their browser is known for as long.
SESSION_COOKIE_AGE = 90 * 24 * 3600
SESSION_COOKIE_SECURE = not LOCAL
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = not LOCAL
X_FRAME_OPTIONS = "DENY"
# The staff's pages ask for a code of a device, too; not on one's own machine, where nobody else comes.
STAFF_SECOND_FACTOR = env.bool("STAFF_SECOND_FACTOR", default=not LOCAL)
OTP_TOTP_ISSUER = "Beadbox"
OTP_ADMIN_HIDE_SENSITIVE_DATA = True
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "frame-ancestors": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
    },
}

# Bodies: a form or a JSON call is small. What is larger, such as a machine to import, is sent as a file.
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

# Machines

# How many machines an account may have; copies made for a room do not count.
MACHINES_PER_ACCOUNT = env.int("MACHINES_PER_ACCOUNT", default=50)
# How many a browser may keep; an account may have so many beyond its own, if they came along with a log-in.
MACHINES_PER_GUEST = env.int("MACHINES_PER_GUEST", default=20)
# How many the browsers behind an address may keep together: of a school, each child's of a year.
MACHINES_PER_ADDRESS = env.int("MACHINES_PER_ADDRESS", default=2_000)
# How many values a machine that keeps them may have, and all machines of an account together (a million are .6 GB with
# their index). One that has as many learns no new ones; those that it has go on learning.
VALUES_PER_MACHINE = env.int("VALUES_PER_MACHINE", default=500_000)
VALUES_PER_ACCOUNT = env.int("VALUES_PER_ACCOUNT", default=2_000_000)
# For how long, and for how many changes of boxes or values, a machine's history is kept lesson by lesson; what was
# before is folded up (docs/decisions/0096). A change takes some 120 bytes; a list of weights counts as 100 changes.
KEEP_LEDGER_DAYS = env.int("KEEP_LEDGER_DAYS", default=30)
KEEP_LEDGER_CHANGES = env.int("KEEP_LEDGER_CHANGES", default=100_000)
# How many training runs, and how many tournaments, of an account may wait or go on at once; the staff has no limit.
OPEN_RUNS_PER_ACCOUNT = env.int("OPEN_RUNS_PER_ACCOUNT", default=5)
OPEN_TOURNAMENTS_PER_ACCOUNT = env.int("OPEN_TOURNAMENTS_PER_ACCOUNT", default=3)

# What is kept (docs/bounds.md): for how many days, and how much of it however young. The sweep clears the rest.

# Matches in which no account sat, once they are finished or abandoned; no lesson of a ledger may still tell of them.
KEEP_GUEST_MATCHES_DAYS = env.int("KEEP_GUEST_MATCHES_DAYS", default=30)
# Those of accounts, their copies made for rooms, and their finished trainings and tournaments.
KEEP_MATCHES_DAYS = env.int("KEEP_MATCHES_DAYS", default=365)
MATCHES_PER_GUEST = env.int("MATCHES_PER_GUEST", default=1_000)
MATCHES_PER_ACCOUNT = env.int("MATCHES_PER_ACCOUNT", default=10_000)
# A machine of a browser after its last match: so long the browser's session lives.
KEEP_GUEST_MACHINES_DAYS = env.int("KEEP_GUEST_MACHINES_DAYS", default=90)
# A machine copied for a guest's room after the last match there.
KEEP_COPIES_DAYS = env.int("KEEP_COPIES_DAYS", default=30)
# Each has fifty points of a curve, 32 kB in all.
RUNS_PER_MACHINE = 200
# A training that goes on for longer is stopped; a billion games of the fastest game take some minutes.
RUN_DAYS_MOST = 30
TOURNAMENTS_PER_ACCOUNT = 200
# Results of experiments, the newest of each apart.
KEEP_EXPERIMENTS_DAYS = 30
EXPERIMENTS_KEPT = 5_000
# Who logged in from where, and who failed to; of failures no more than so many, the newest.
KEEP_LOG_INS_DAYS = env.int("KEEP_LOG_INS_DAYS", default=30)
LOG_IN_FAILURES_KEPT = 100_000
# Tokens after they were revoked or have expired.
KEEP_TOKENS_DAYS = 90

# How much the whole site keeps; beyond that nothing new is begun, and what is there goes on. Rows are counted as
# PostgreSQL estimates them, and the size is that of the database.
MATCHES_MOST = env.int("MATCHES_MOST", default=2_000_000)
MACHINES_MOST = env.int("MACHINES_MOST", default=200_000)
ACCOUNTS_MOST = env.int("ACCOUNTS_MOST", default=100_000)
RUNS_MOST = env.int("RUNS_MOST", default=500_000)
TOURNAMENTS_MOST = env.int("TOURNAMENTS_MOST", default=100_000)
DATABASE_BYTES_MOST = env.int("DATABASE_BYTES_MOST", default=40_000_000_000)

# Live matches

# How many rooms of a person, and of everybody behind an address, may be open at once: they wait or are being
# played, and somebody has moved within the hour. A class of 40 behind one address opens 40 or 80.
OPEN_ROOMS_PER_GUEST = env.int("OPEN_ROOMS_PER_GUEST", default=20)
OPEN_ROOMS_PER_ACCOUNT = env.int("OPEN_ROOMS_PER_ACCOUNT", default=100)
OPEN_ROOMS_PER_ADDRESS = env.int("OPEN_ROOMS_PER_ADDRESS", default=800)
# How many sockets an address may have open in each web process, and how many other connections.
SOCKETS_PER_ADDRESS = env.int("SOCKETS_PER_ADDRESS", default=500)
# How many machines copied for a room are kept: of those that nobody plays or trains the longest unplayed goes first.
COPIES_PER_GUEST = env.int("COPIES_PER_GUEST", default=5)
COPIES_PER_ACCOUNT = env.int("COPIES_PER_ACCOUNT", default=20)
COPIES_PER_ADDRESS = env.int("COPIES_PER_ADDRESS", default=400)
# How many values a machine may have that is copied for a room (50,000 are copied in half a second), and those copies
# together that a guest plays or that guests play from an address. Copies of an account count with its machines.
VALUES_PER_ROOM_COPY = 50_000
VALUES_PER_GUEST = 200_000
VALUES_PER_ADDRESS = 2_000_000
# Threads of a web process in which players that take seconds over a move think.
THINKERS = 1

# Back-ups (docs/backup.md)

# Where the daily one goes; none is made where nothing is named. On one's own machine it goes beside the data.
BACKUP_DIR = env.str("BACKUP_DIR", default=str(VAR_DIR / "backups") if LOCAL else "")
# How many of them stay.
BACKUPS_KEPT = env.int("BACKUPS_KEPT", default=7)

# Advice (/api/ai/)

# Origins whose pages may ask from a browser, such as https://romgon.example, or * for all; none unless set.
AI_CORS_ORIGINS = env.list("AI_CORS_ORIGINS", default=[])
# A deep search answers with what it has found by then, and a machine that looks far ahead moves and explains itself.
AI_TIME_BUDGET_S = env.float("AI_TIME_BUDGET_S", default=2.0)
# The same of a machine that is asked for advice: questions that are answered at once wait behind it.
AI_QUICK_TIME_BUDGET_S = 0.25

# Files

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = VAR_DIR / "static"
# robots.txt and favicon.ico, which are asked for at the root.
WHITENOISE_ROOT = BASE_DIR / "static" / "root"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "menace_site.server.static_files.ModuleStaticFilesStorage"},
}
# True, and known: files leave through a thread. Said once a process, it only hides other warnings.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")

# API

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "games.accounts.authentication.BearerAuthentication",
        "games.accounts.authentication.SessionAuthentication",
        "games.accounts.authentication.VisitorAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "games.accounts.authentication.ScopePermission",
        "games.accounts.authentication.AccountOrReadOnly",
    ],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["menace_site.server.request_validation.WholeTextParser"],
    "DEFAULT_PAGINATION_CLASS": "games.transport.paging.Page",
    "PAGE_SIZE": 50,
    "DEFAULT_SCHEMA_CLASS": "menace_site.api.schema.Schema",
    "DEFAULT_THROTTLE_CLASSES": ["games.accounts.throttles.ApiThrottle"],
    "DEFAULT_THROTTLE_RATES": {
        # Each rate of an address leaves room for a class of 120: docs/operating.md.
        "api": env.str("THROTTLE_API", default="1800/min"),
        "live": env.str("THROTTLE_LIVE", default="24000/min"),
        "room": env.str("THROTTLE_ROOM", default="6000/min"),
        "write": env.str("THROTTLE_WRITE", default="1200/min"),
        "match": env.str("THROTTLE_MATCH", default="40000/day"),
        "guess": env.str("THROTTLE_GUESS", default="600/hour"),
        "account": env.str("THROTTLE_ACCOUNT", default="100/hour"),
        "mailbox": env.str("THROTTLE_MAILBOX", default="5/hour"),
    },
    # ?format= is a filter of ours: of tournaments, of exports.
    "URL_FORMAT_OVERRIDE": None,
    "EXCEPTION_HANDLER": "menace_site.api.exception_handler.exception_handler",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Beadbox",
    "DESCRIPTION": "Matchbox learning machines: play them, train them, open their boxes.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    # A visitor's session is no way to prove an account.
    "AUTHENTICATION_WHITELIST": [
        "games.accounts.authentication.BearerAuthentication",
        "games.accounts.authentication.SessionAuthentication",
    ],
    "PREPROCESSING_HOOKS": ["menace_site.api.schema.without_trailing_slash"],
    "POSTPROCESSING_HOOKS": ["drf_spectacular.hooks.postprocess_schema_enums", "menace_site.api.schema.with_groups"],
    # One name for the same choices under several fields.
    "ENUM_NAME_OVERRIDES": {
        "RunStatusEnum": "learning.models.JobStatus",
        "ExperimentEnum": "learning.serializers.experiments.EXPERIMENT_SLUGS",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

# Language and time

LANGUAGE_CODE = "en-gb"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# Watching (docs/operating.md)

# Networks from which /metrics may be asked. None by default: behind a proxy on this machine, visitors may seem local.
METRICS_ADDRESSES = env.list("METRICS_ADDRESSES", default=[])
# A worker on a machine without web processes answers /metrics itself, on this port; 0 for none.
METRICS_PORT = env.int("METRICS_PORT", default=0)
# Where errors are reported, by Sentry's protocol, without who caused them; nowhere unless set.
SENTRY_DSN = env.str("SENTRY_DSN", default="")
# "json": an object a line; "line": for people.
LOG_FORMAT = env.str("LOG_FORMAT", default="line" if LOCAL else "json")
if LOG_FORMAT not in ("json", "line"):
    raise ImproperlyConfigured(f"LOG_FORMAT is {LOG_FORMAT!r}: set it to json or line.")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "class": "menace_site.observability.logs.Lines",
            "format": "{asctime} {levelname} {name}: {message} [{request_id}]",
            "style": "{",
        },
        "json": {
            "()": "menace_site.observability.logs.Objects",
            "format": "{levelname}{name}{message}{request_id}",
            "style": "{",
            "timestamp": "time",
            "rename_fields": {"levelname": "level", "name": "logger"},
        },
    },
    "filters": {
        "answered": {"()": "menace_site.observability.logs.Answered"},
        "one_line": {"()": "games.transport.database_errors.OneLine"},
        "named_alone": {"()": "menace_site.observability.logs.NamedAlone"},
        "expected": {"()": "menace_site.observability.logs.Expected"},
        "unquoted": {"()": "menace_site.observability.logs.Unquoted"},
        "with_request": {"()": "menace_site.observability.logs.WithRequest"},
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["with_request", "unquoted"]},
        # Who has no handler at all is heard by Python's last resort.
        "nowhere": {"class": "logging.NullHandler"},
    },
    "loggers": {
        # What strangers send to be refused: any Host, forms without their token. A line each names the address that was
        # asked for, helps nobody, and comes beside that of beadbox.requests.
        "django.security": {"handlers": ["nowhere"], "propagate": False},
        # Of a letter that could not be sent: the carrier's answer quotes the mailbox.
        "django.contrib.auth": {"filters": ["named_alone"]},
        "django.request": {"filters": ["expected", "one_line"]},
        # Its lines name addresses, with the tokens in them. Ours are those of beadbox.requests.
        "uvicorn": {"handlers": [], "propagate": True},
        # Its warnings are of bytes that are no request.
        "uvicorn.error": {"level": "ERROR", "filters": ["answered"]},
        "uvicorn.access": {"handlers": ["nowhere"], "propagate": False},
        # Likewise: a task has one line, of beadbox.tasks, and a traceback if it failed.
        "celery": {"level": "WARNING"},
        # A warning for each attempt to connect, four a second; games.pulse logs that the database is away.
        "psycopg.pool": {"level": "ERROR"},
        # Wrong passwords are no news, and names that were typed nobody's business.
        "axes": {"level": "ERROR"},
    },
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="WARNING" if LOCAL else "INFO")},
}

# The warnings that HSTS covers no subdomains and is not preloaded: only the owner of the whole domain can choose that.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
