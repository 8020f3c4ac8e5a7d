"""Admin pages, one module for each subject. Django registers them by importing this package."""

from learning.admin import accounts, classrooms, experiments, machines

# isort: split  # the order of these imports is the order of the admin's URLs
from learning.kinds.boxes import admin as boxes

# isort: split
from learning.admin import runs, schedules, snapshots, tournaments
from learning.kinds.keyed_values import admin as keyed_values
from learning.kinds.value_learner import admin as value_learner

__all__ = [
    "accounts",
    "boxes",
    "classrooms",
    "experiments",
    "keyed_values",
    "machines",
    "runs",
    "schedules",
    "snapshots",
    "tournaments",
    "value_learner",
]
