"""What the staff sees and does, a module a subject; Django finds them by importing this."""

from learning.admin import accounts, experiments, machines, runs, schedules, snapshots, tournaments, values, weights

__all__ = ["accounts", "experiments", "machines", "runs", "schedules", "snapshots", "tournaments", "values", "weights"]
