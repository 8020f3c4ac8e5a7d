"""Settings of the site, read from the environment.

Without ``BEADBOX_LOCAL`` the settings are those of production: every security setting is on, and ``SECRET_KEY``,
``ALLOWED_HOSTS``, ``DATABASE_URL`` and ``REDIS_URL`` are required (``menace_site/server/checks.py`` names a missing
variable). ``make run`` and ``make test`` set ``BEADBOX_LOCAL=1``: plain http on this machine, a private server for each
missing URL, and a generated secret key under ``var/``.
"""

import os
import secrets
import warnings
from functools import partial
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
from menace_site.local.addresses import default_hosts, parse_hosts, parse_list, reachable_hosts
from menace_site.local.errors import ServerError
from menace_site.server import pooled


class Environment(environ.Env):  # type: ignore[misc]
    """The environment. Commas separate the entries of a list; blanks around entries and empty entries are dropped."""

    @classmethod
    def parse_value(cls, value: str, cast: Any) -> Any:
        """Convert the text of a variable to the type ``cast``."""
        return parse_list(value) if cast is list else super().parse_value(value, cast)


env = Environment()
BASE_DIR = servers.BASE_DIR
VAR_DIR = servers.var_dir()

# The import of numba fails without a writable folder for compiled kernels.
os.environ.setdefault("NUMBA_CACHE_DIR", str(VAR_DIR / "numba"))

# The package prometheus-client reads this variable at import, so it must be set before any import of the package.
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(servers.metrics_dir(VAR_DIR))

LOCAL = env.bool("BEADBOX_LOCAL", default=False)
DEBUG = env.bool("DEBUG", default=False)


def _local_secret_key(file: Path) -> str:
    """Return the secret key of this checkout; the first call generates it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as new:
            new.write(secrets.token_urlsafe(64))
    except FileExistsError:
        pass
    return file.read_text()


SECRET_KEY = env.str("SECRET_KEY", default="") or (_local_secret_key(VAR_DIR / "secret_key") if LOCAL else "")
# Earlier keys, whose signatures on sessions and password-reset links stay valid (docs/security.md).
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])
try:
    ALLOWED_HOSTS = parse_hosts(env.str("ALLOWED_HOSTS", default=""))
except ServerError as error:
    raise ImproperlyConfigured(str(error)) from error
# The default of a local run: the name and addresses of this computer that are reachable with BIND.
if LOCAL and not ALLOWED_HOSTS:
    ALLOWED_HOSTS = default_hosts(env.str("BIND", default=""))
# A function that returns the hosts at which pupils reach a local run now. In production it returns no hosts, because
# SITE_URL is the only address.
LOCAL_HOSTS = partial(reachable_hosts, env.str("BIND", default=""), ALLOWED_HOSTS) if LOCAL else list[str]
# Public origin of the site, such as https://beads.example. Links in e-mails begin with this origin, and the Origin of a
# page's WebSocket must equal it. Without SITE_URL, the Origin must equal scheme, host and port of the request itself.
SITE_URL = env.str("SITE_URL", default="").strip().rstrip("/")
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[SITE_URL] if SITE_URL else [])

# Number of proxies in front of the site, each of which appends one address to X-Forwarded-For. With 0 the header is
# not trusted.
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
    # Pages with hundreds of boxes need compression. The middleware adds random padding against the attack BREACH.
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
# Paths of the admin end with a slash. All other paths have none (menace_site/server/slashes.py).
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
# A prefix separates sites and parallel test runs on one Redis, because publish and subscribe ignores database numbers.
REDIS_PREFIX = env.str("REDIS_PREFIX", default="beadbox")

DATABASES: dict[str, Any] = {
    "default": {
        **env.db_url_config(DATABASE_URL or "postgres:///"),
        # Django's persistent connections leak under ASGI, one for each request. The pool keeps connections instead.
        "CONN_MAX_AGE": 0,
    },
}
# PostgreSQL plans each statement once for each connection of the pool instead of at every move.
DATABASES["default"].setdefault("OPTIONS", {}).update(server_side_binding=True, prepare_threshold=5)
# If the database's host vanishes, its connections fail after ten seconds instead of two hours.
DATABASES["default"]["OPTIONS"].update(
    keepalives_idle=5, keepalives_interval=2, keepalives_count=3, tcp_user_timeout=10_000, connect_timeout=5
)
# Only web processes have a pool, since the threads of a pool do not survive the fork of a Celery worker.
if env.bool("BEADBOX_DB_POOL", default=False):
    DATABASES["default"]["ENGINE"] = "menace_site.server.pooled"
    DATABASES["default"]["OPTIONS"]["pool"] = {"min_size": 2, "max_size": 6, **pooled.RECONNECT_OPTIONS}

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHES = {
    "default": {
        "BACKEND": "menace_site.server.cache.ForgivingRedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": REDIS_PREFIX,
        # A Redis that hangs delays only one request, by this time-out (menace_site/server/cache.py). After a restart of
        # Redis the old connections are dead, so the client retries a failed call once on a new connection.
        "OPTIONS": {
            "socket_connect_timeout": 0.1,
            "socket_timeout": 0.1,
            "retry": Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
        },
    },
}

CHANNEL_LAYERS = {
    "default": {
        # The default Redis layer loses sockets when Redis restarts. The publish-subscribe layer keeps them, but buffers
        # no messages.
        "BACKEND": "menace_site.server.channel_layer.SocketLayer",
        "CONFIG": {
            "hosts": [{"address": REDIS_URL, "socket_timeout": 20}],
            "prefix": REDIS_PREFIX,
        },
    },
}

# Jobs: the database row holds the state, a message is only a wake-up (docs/decisions/0070-turns.md)


def _celery_url(redis_url: str) -> str:
    """Return the URL in the form that Celery reads, which differs only for unix sockets."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    return f"redis+socket://{parts.path}?virtual_host={parts.query.removeprefix('db=') or '0'}"


CELERY_BROKER_URL = _celery_url(REDIS_URL)
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "global_keyprefix": f"{REDIS_PREFIX}:celery:",
    # A broker that hangs delays a sender once, by this time-out. Otherwise the sender would wait until the broker
    # answers or, on a new connection, for every retry within broker_connection_timeout.
    "socket_timeout": 1.0,
    "socket_connect_timeout": 1.0,
    "max_retries": 0,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_DEFAULT_QUEUE = "default"
# The queue "bulk" has the long jobs, which run in time slices. The queue "default" has the short tasks (schedules,
# recovery of jobs, retention), with a separate worker.
CELERY_TASK_QUEUES: dict[str, dict[str, Any]] = {"default": {}, "bulk": {}}
CELERY_TASK_ROUTES = {
    "learning.tasks.jobs_work": {"queue": "bulk"},
    "menace_site.tasks.backup_daily": {"queue": "bulk"},
}
CELERY_TASK_CREATE_MISSING_QUEUES = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULER = "menace_site.operations.scheduler:Scheduler"
# Seconds within which beat reads a changed schedule.
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
    # The task runs every five minutes, so that a site that runs for an hour a day gets its back-up too.
    "Make the daily back-up": {
        "task": "menace_site.tasks.backup_daily",
        "schedule": 300.0,
        "options": {"expires": 300},
    },
    # The task works step by step. Once the tournament is finished, each call costs one query.
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
    # Existing sessions store the name of this backend, so it stays in the list.
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

# A lock is for one name at one address, so a stranger at another address cannot lock the owner out. A rate for each
# account over all addresses is in games/accounts/log_ins.py.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_USERNAME_CALLABLE = "games.accounts.log_ins.submitted_name_key"
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
# An attempt during a lock does not extend the lock, and is not recorded.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
# A successful log-in deletes the attempts that count towards a lock. The log of failures stays.
AXES_ENABLE_ACCESS_FAILURE_LOG = True
AXES_HANDLER = "games.accounts.log_ins.LogInHandler"
AXES_ENABLE_ADMIN = False  # menace_site/admin.py has our own admin pages.
AXES_HTTP_RESPONSE_CODE = 429
AXES_LOCKOUT_CALLABLE = "games.accounts.views.lock_out_response"
AXES_CLIENT_IP_CALLABLE = "games.accounts.identity.log_in_client_address"
AXES_VERBOSE = False

# The link in an e-mail can set a new password, so only a local run prints e-mails to the console. In production no
# e-mail is sent until EMAIL_URL names a mail server.
EMAIL_CONFIG = env.email_url("EMAIL_URL", default="consolemail://" if LOCAL else "dummymail://")
vars().update(EMAIL_CONFIG)
SENDS_LETTERS = EMAIL_CONFIG["EMAIL_BACKEND"] != env.EMAIL_SCHEMES["dummymail"]
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="Beadbox <noreply@localhost>")
# Allows a mail server without TLS, for a private network.
EMAIL_WITHOUT_TLS = env.bool("EMAIL_WITHOUT_TLS", default=False)
# Lifetime of the link in seconds. The e-mail names this time.
PASSWORD_RESET_TIMEOUT = 3600

# Transport and headers

SECURE_SSL_REDIRECT = not LOCAL
# Health checks inside a container use plain http.
SECURE_REDIRECT_EXEMPT = [r"^api/health(/live|/ready)?/?$"]
SECURE_HSTS_SECONDS = 0 if LOCAL else 365 * 24 * 3600
# Both settings affect other sites of the same domain. Preloading lasts for months after it is turned off
# (docs/security.md).
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.bool("HSTS_INCLUDE_SUBDOMAINS", default=False)
SECURE_HSTS_PRELOAD = env.bool("HSTS_PRELOAD", default=False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if NUM_PROXIES else None
SECURE_REFERRER_POLICY = "same-origin"
# 90 days in seconds. A visitor's machine is kept equally long after its last match.
SESSION_COOKIE_AGE = 90 * 24 * 3600
SESSION_COOKIE_SECURE = not LOCAL
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = not LOCAL
X_FRAME_OPTIONS = "DENY"
# Whether the admin asks for a code of an authenticator app. A local run does not, since only its owner reaches it.
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

# Bodies. Forms and JSON calls are small; larger data, such as an imported machine, are sent as a file.
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

# Machines

# Machines that an account may have; copies made for a room do not count.
MACHINES_PER_ACCOUNT = env.int("MACHINES_PER_ACCOUNT", default=50)
# Machines of a browser without an account. They join the account at a log-in, even beyond MACHINES_PER_ACCOUNT.
MACHINES_PER_GUEST = env.int("MACHINES_PER_GUEST", default=20)
# Machines of all browsers behind one address: enough for a year's machines of every child of a school.
MACHINES_PER_ADDRESS = env.int("MACHINES_PER_ADDRESS", default=2_000)
# Values of one machine, and of all machines of an account; a million values take 0.6 GB with their index. A machine at
# its limit adds no new values, and goes on updating the existing values.
VALUES_PER_MACHINE = env.int("VALUES_PER_MACHINE", default=500_000)
VALUES_PER_ACCOUNT = env.int("VALUES_PER_ACCOUNT", default=2_000_000)
# A machine's history is kept lesson by lesson for these days, and for these changes of boxes or values. Older lessons
# are compacted (docs/decisions/0096). A change takes about 120 bytes; a list of weights counts as 100 changes.
KEEP_LEDGER_DAYS = env.int("KEEP_LEDGER_DAYS", default=30)
KEEP_LEDGER_CHANGES = env.int("KEEP_LEDGER_CHANGES", default=100_000)
# Training runs and tournaments of an account that may be waiting or running at once; the staff has no limit.
OPEN_RUNS_PER_ACCOUNT = env.int("OPEN_RUNS_PER_ACCOUNT", default=5)
OPEN_TOURNAMENTS_PER_ACCOUNT = env.int("OPEN_TOURNAMENTS_PER_ACCOUNT", default=3)

# The operator of the site, and the operator's contact, for the page about the privacy of pupils.
OPERATOR = env.str("OPERATOR", default="")
OPERATOR_CONTACT = env.str("OPERATOR_CONTACT", default="")

# Retention (docs/bounds.md): rows are kept up to these ages in days and these numbers. A task deletes the rest.

# Finished or abandoned matches without an account, unless a lesson of a ledger still refers to them.
KEEP_GUEST_MATCHES_DAYS = env.int("KEEP_GUEST_MATCHES_DAYS", default=30)
# Matches of accounts, their copies made for rooms, and their finished trainings and tournaments.
KEEP_MATCHES_DAYS = env.int("KEEP_MATCHES_DAYS", default=365)
MATCHES_PER_GUEST = env.int("MATCHES_PER_GUEST", default=1_000)
MATCHES_PER_ACCOUNT = env.int("MATCHES_PER_ACCOUNT", default=10_000)
# Machines of a browser, counted from the last match. Equals SESSION_COOKIE_AGE, the lifetime of the browser's session.
KEEP_GUEST_MACHINES_DAYS = env.int("KEEP_GUEST_MACHINES_DAYS", default=90)
# Machines copied for a guest's room, counted from the last match there.
KEEP_COPIES_DAYS = env.int("KEEP_COPIES_DAYS", default=30)
# Each run stores a curve of fifty points, 32 kB in all.
RUNS_PER_MACHINE = 200
# A training that takes longer is stopped. A billion games of the fastest game take some minutes.
RUN_DAYS_MOST = 30
TOURNAMENTS_PER_ACCOUNT = 200
# Results of experiments; the newest result of each experiment is always kept.
KEEP_EXPERIMENTS_DAYS = 30
EXPERIMENTS_KEPT = 5_000
# Days for which log-ins and failed log-ins are kept, and the largest number of failed log-ins.
KEEP_LOG_INS_DAYS = env.int("KEEP_LOG_INS_DAYS", default=30)
LOG_IN_FAILURES_KEPT = 100_000
# API tokens, counted from their revocation or expiry.
KEEP_TOKENS_DAYS = 90

# Limits of the whole site. Beyond these limits nothing new starts, and existing matches and jobs go on. Row counts are
# PostgreSQL's estimates, and so is the size of all tables in bytes.
MATCHES_MOST = env.int("MATCHES_MOST", default=2_000_000)
MACHINES_MOST = env.int("MACHINES_MOST", default=200_000)
ACCOUNTS_MOST = env.int("ACCOUNTS_MOST", default=100_000)
RUNS_MOST = env.int("RUNS_MOST", default=500_000)
TOURNAMENTS_MOST = env.int("TOURNAMENTS_MOST", default=100_000)
DATABASE_BYTES_MOST = env.int("DATABASE_BYTES_MOST", default=40_000_000_000)

# Live matches

# Rooms that one player, or all players behind an address, may have open at once. An open room is waiting or being
# played, with a move within the last hour. A class of 40 behind one address opens 40 or 80.
OPEN_ROOMS_PER_GUEST = env.int("OPEN_ROOMS_PER_GUEST", default=20)
OPEN_ROOMS_PER_ACCOUNT = env.int("OPEN_ROOMS_PER_ACCOUNT", default=100)
OPEN_ROOMS_PER_ADDRESS = env.int("OPEN_ROOMS_PER_ADDRESS", default=800)
# Sockets that an address may have open in each web process.
SOCKETS_PER_ADDRESS = env.int("SOCKETS_PER_ADDRESS", default=500)
# Maximum numbers of machines that were copied for a room. Beyond the maximum, the copy that nobody has played for
# longest is deleted first. A copy in a match or a training is not deleted.
COPIES_PER_GUEST = env.int("COPIES_PER_GUEST", default=5)
COPIES_PER_ACCOUNT = env.int("COPIES_PER_ACCOUNT", default=20)
COPIES_PER_ADDRESS = env.int("COPIES_PER_ADDRESS", default=400)
# The maximum number of values of a machine that can be copied for a room, since the copy of 50,000 values takes half a
# second. Then the maximum numbers of values of all copies of a guest, and of all guests behind an address. Copies of an
# account count towards VALUES_PER_ACCOUNT.
VALUES_PER_ROOM_COPY = 50_000
VALUES_PER_GUEST = 200_000
VALUES_PER_ADDRESS = 2_000_000
# Threads of a web process for players that need seconds for a move.
THINKERS = 1

# Back-ups (docs/backup.md)

# Folder of the daily back-up; empty for no back-up. A local run writes the back-up into a folder next to its data.
BACKUP_DIR = env.str("BACKUP_DIR", default=str(VAR_DIR / "backups") if LOCAL else "")
# Number of daily back-ups that are kept.
BACKUPS_KEPT = env.int("BACKUPS_KEPT", default=7)

# Advice (/api/ai/)

# Origins whose pages may call the API from a browser, such as https://romgon.example, or * for all; none by default.
AI_CORS_ORIGINS = env.list("AI_CORS_ORIGINS", default=[])
# Seconds after which a deep search, or a machine that looks far ahead, answers with its best result so far.
AI_TIME_BUDGET_S = env.float("AI_TIME_BUDGET_S", default=2.0)
# The same limit for the advice of a machine. It is short, because quick requests wait for such an advice to end.
AI_QUICK_TIME_BUDGET_S = 0.25

# Files

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = VAR_DIR / "static"
# robots.txt and favicon.ico, which clients request at the root.
WHITENOISE_ROOT = BASE_DIR / "static" / "root"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "menace_site.server.static_files.ModuleStaticFilesStorage"},
}
# Static files are sent from a thread, so this warning is correct and harmless. Without it, other warnings stand out.
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
        # Each rate of an address suffices for a class of 120: docs/operating.md.
        "api": env.str("THROTTLE_API", default="1800/min"),
        "live": env.str("THROTTLE_LIVE", default="24000/min"),
        "room": env.str("THROTTLE_ROOM", default="6000/min"),
        "write": env.str("THROTTLE_WRITE", default="1200/min"),
        "match": env.str("THROTTLE_MATCH", default="40000/day"),
        "guess": env.str("THROTTLE_GUESS", default="600/hour"),
        "account": env.str("THROTTLE_ACCOUNT", default="100/hour"),
        "mailbox": env.str("THROTTLE_MAILBOX", default="5/hour"),
    },
    # REST framework must not read ?format=, because the API uses it for other purposes: as a filter of tournaments and
    # for exports.
    "URL_FORMAT_OVERRIDE": None,
    "EXCEPTION_HANDLER": "menace_site.api.exception_handler.exception_handler",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Beadbox",
    "DESCRIPTION": "Matchbox learning machines: play them, train them, open their boxes.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    # VisitorAuthentication is missing because a visitor's session proves no account.
    "AUTHENTICATION_WHITELIST": [
        "games.accounts.authentication.BearerAuthentication",
        "games.accounts.authentication.SessionAuthentication",
    ],
    "PREPROCESSING_HOOKS": ["menace_site.api.schema.remove_trailing_slashes"],
    "POSTPROCESSING_HOOKS": ["drf_spectacular.hooks.postprocess_schema_enums", "menace_site.api.schema.add_groups"],
    # Names in the schema for choices that several fields share.
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

# Monitoring (docs/operating.md)

# Networks that may read /metrics; none by default, because visitors may seem local behind a proxy on this computer.
METRICS_ADDRESSES = env.list("METRICS_ADDRESSES", default=[])
# Port on which a worker answers /metrics, for a computer without web processes; 0 for none.
METRICS_PORT = env.int("METRICS_PORT", default=0)
# Receiver of error reports in Sentry's protocol, without data about users; none by default.
SENTRY_DSN = env.str("SENTRY_DSN", default="")
# "json": one JSON object per line; "line": text for people.
LOG_FORMAT = env.str("LOG_FORMAT", default="line" if LOCAL else "json")
if LOG_FORMAT not in ("json", "line"):
    raise ImproperlyConfigured(f"LOG_FORMAT is {LOG_FORMAT!r}: set it to json or line.")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "class": "menace_site.observability.logs.LineFormatter",
            "format": "{asctime} {levelname} {name}: {message} [{request_id}]",
            "style": "{",
        },
        "json": {
            "()": "menace_site.observability.logs.JsonObjectFormatter",
            "format": "{levelname}{name}{message}{request_id}",
            "style": "{",
            "timestamp": "time",
            "rename_fields": {"levelname": "level", "name": "logger"},
        },
    },
    "filters": {
        "handshake_refusals": {"()": "menace_site.observability.logs.HandshakeRefusalFilter"},
        "one_line": {"()": "games.transport.database_errors.OutageLineFilter"},
        "class_name_only": {"()": "menace_site.observability.logs.ErrorMessageFilter"},
        "refused_requests": {"()": "menace_site.observability.logs.RefusedRequestFilter"},
        "without_detail": {"()": "menace_site.observability.logs.ErrorDetailFilter"},
        "with_request_id": {"()": "menace_site.observability.logs.RequestIdFilter"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["with_request_id", "without_detail"],
        },
        # This handler drops records. Without any handler, Python's last-resort handler would print them.
        "nowhere": {"class": "logging.NullHandler"},
    },
    "loggers": {
        # This logger reports requests with a wrong Host and forms without a CSRF token. Each line would contain the
        # requested address, and beadbox.requests already logs these requests.
        "django.security": {"handlers": ["nowhere"], "propagate": False},
        # If an e-mail cannot be sent, the mail server's answer quotes the address.
        "django.contrib.auth": {"filters": ["class_name_only"]},
        "django.request": {"filters": ["refused_requests", "one_line"]},
        # Lines of uvicorn contain paths with tokens, so beadbox.requests logs requests instead.
        "uvicorn": {"handlers": [], "propagate": True},
        # The warnings of uvicorn.error only report bytes that form no request.
        "uvicorn.error": {"level": "ERROR", "filters": ["handshake_refusals"]},
        "uvicorn.access": {"handlers": ["nowhere"], "propagate": False},
        # beadbox.tasks logs one line for each task; a failed task also has a traceback.
        "celery": {"level": "WARNING"},
        # The pool warns at each attempt to connect, four times a second. The logger games.pulse reports an outage once.
        "psycopg.pool": {"level": "ERROR"},
        # Each wrong password would get a line with the typed name, which is private.
        "axes": {"level": "ERROR"},
    },
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="WARNING" if LOCAL else "INFO")},
}

# Warnings about HSTS without subdomains and without preloading. Only the owner of the whole domain can decide on both.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
