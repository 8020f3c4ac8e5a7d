"""The settings of the tests: the site's own local settings, with throwaway servers and cheaper hashes."""

import os
import tempfile

# Set before the site's settings read it; xdist's workers inherit it, so they all use one pair of servers.
if "BEADBOX_TEST_VAR" not in os.environ:
    os.environ["BEADBOX_TEST_VAR"] = tempfile.mkdtemp(prefix="beadbox-test-")
    # Compiled kernels outlive the run: each costs seconds and depends on its source only.
    os.environ.setdefault("NUMBA_CACHE_DIR", os.path.join(os.path.dirname(__file__), "..", "var", "numba"))
os.environ["BEADBOX_VAR"] = os.environ["BEADBOX_TEST_VAR"]
os.environ["METRICS_DIR"] = os.path.join(os.environ["BEADBOX_VAR"], "metrics")
os.environ["BEADBOX_LOCAL"] = "1"
# One Redis prefix for each worker of each run.
os.environ["REDIS_PREFIX"] = "-".join(
    (os.path.basename(os.environ["BEADBOX_VAR"]), os.environ.get("PYTEST_XDIST_WORKER", "main"))
)

from menace_site.settings import *  # noqa: F403
from menace_site.settings import CACHES, DATABASES, REST_FRAMEWORK, STORAGES

ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
# A hash takes a millisecond; Argon2 takes 160.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# On a busy machine a slow cache or database must not count as down.
CACHES["default"]["OPTIONS"] |= {"socket_connect_timeout": 60, "socket_timeout": 60}
DATABASES["default"]["OPTIONS"]["connect_timeout"] = 60
# Tests run without collectstatic.
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
# Tests of throttling set a rate of their own.
REST_FRAMEWORK = {
    **REST_FRAMEWORK,
    "DEFAULT_THROTTLE_RATES": dict.fromkeys(REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"]),
}
# Static files are served from their source folders.
WHITENOISE_AUTOREFRESH = True
WHITENOISE_USE_FINDERS = True
