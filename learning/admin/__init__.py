"""What the staff sees and does, a module a subject; Django finds them by importing this."""

from learning.admin import accounts, experiments, machines

# isort: split  # the addresses of the admin stand in the order of these imports
from learning.kinds.boxes import admin as boxes

# isort: split
from learning.admin import runs, schedules, snapshots, tournaments
from learning.kinds.keyed_values import admin as keyed_values
from learning.kinds.value_learner import admin as value_learner

__all__ = [
    "accounts",
    "boxes",
    "experiments",
    "keyed_values",
    "machines",
    "runs",
    "schedules",
    "snapshots",
    "tournaments",
    "value_learner",
]
