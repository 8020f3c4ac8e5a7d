"""Django settings of the tests: the site's local settings, with temporary servers and faster password hashes."""

import os
import tempfile

# The variable must be set before the site's settings read it. The processes of xdist inherit it and share the servers.
if "BEADBOX_TEST_VAR" not in os.environ:
    os.environ["BEADBOX_TEST_VAR"] = tempfile.mkdtemp(prefix="beadbox-test-")
    # The cache of compiled kernels is kept after the run, because compiling each of them takes seconds.
    os.environ.setdefault("NUMBA_CACHE_DIR", os.path.join(os.path.dirname(__file__), "..", "var", "numba"))
os.environ["BEADBOX_VAR"] = os.environ["BEADBOX_TEST_VAR"]
os.environ["METRICS_DIR"] = os.path.join(os.environ["BEADBOX_VAR"], "metrics")
os.environ["BEADBOX_LOCAL"] = "1"
# Each process of each run has a different prefix, because all runs can share a Redis server.
os.environ["REDIS_PREFIX"] = "-".join(
    (os.path.basename(os.environ["BEADBOX_VAR"]), os.environ.get("PYTEST_XDIST_WORKER", "main"))
)

from menace_site.settings import *  # noqa: F403
from menace_site.settings import CACHES, DATABASES, REST_FRAMEWORK, STORAGES

ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
# An MD5 hash takes a millisecond, and an Argon2 hash 160.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Long time limits, so that a cache or database that is slow on a busy machine does not count as down.
CACHES["default"]["OPTIONS"] |= {"socket_connect_timeout": 60, "socket_timeout": 60}
DATABASES["default"]["OPTIONS"]["connect_timeout"] = 60
# This storage works without collectstatic.
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
# Throttling is off. Tests of throttling set the rates that they need.
REST_FRAMEWORK = {
    **REST_FRAMEWORK,
    "DEFAULT_THROTTLE_RATES": dict.fromkeys(REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"]),
}
# Static files are served from their source folders.
WHITENOISE_AUTOREFRESH = True
WHITENOISE_USE_FINDERS = True
