"""A function that repeats published experiments."""

from __future__ import annotations

from collections.abc import Callable

from beadbox.experiments.experiment import Result
from beadbox.experiments.registry import EXPERIMENTS
from beadbox.public.names import Names
from beadbox.seeds import seed_checked

_experiments = Names("experiment", EXPERIMENTS)


def experiment(
    name: str, *, seed: int | None = None, on_progress: Callable[[int, int], None] | None = None, **parameters: int
) -> Result:
    """Repeat a published experiment, and return its ``figures``, ``charts``, ``tables`` and ``findings``.

    The result's ``to_json()`` returns all four as dictionaries and lists. The page on experiments explains what each
    experiment finds out. An unknown parameter raises an error that lists the parameters.

    Args:
        name: "gardner", "michie-tournament", "hexapawn-rewards", "hexapawn-resigns", "menace-and-after" or
            "romgon-page".
        seed: the seed of all random numbers; by default the experiment's own.
        on_progress: called with the number of finished parts and the number of all parts.
        **parameters: numbers of the experiment; the others have their defaults.

    Raises:
        UnknownNameError: there is no such experiment.
        BeadboxError: a parameter is unknown or out of range.
    """
    found = _experiments[name]
    chosen = found.default_seed if seed is None else seed_checked(seed)
    return found.run(found.settings(parameters), chosen, on_progress or (lambda done, all_parts: None))
