"""The kind's own file format: ``counts`` is a list of (position and move, games, wins)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from beadbox.learners.exchange.document import native_text
from beadbox.learners.exchange.errors import ExchangeError
from beadbox.rules.game import Game
from learning.kinds.files import KindFiles
from tests.learning.kinds.win_counter.learner import WinCounterRule
from tests.learning.kinds.win_counter.models import WinCount


@dataclass(frozen=True)
class WinCounterData:
    game: Game[Any, Any]
    rule: WinCounterRule
    counts: tuple[tuple[str, int, int], ...]
    name: str
    description: str = ""
    preset: str = ""
    learns: bool = True
    wins: int = 0
    draws: int = 0
    losses: int = 0
    random_state: str = ""


class WinCounterFiles(KindFiles):
    @staticmethod
    def read(file, game, rule, head, any_size):
        for index, one in enumerate(file["counts"]):
            if not one[1] >= one[2] >= 0:
                raise ExchangeError(f"counts[{index}]", "expected", expected="games, and no more wins", value=one)
        totals = {name: file["totals"][name] for name in ("wins", "draws", "losses")}
        return WinCounterData(game, rule, tuple(map(tuple, file["counts"])), **head, **totals)

    def dump(self, machine, form, *, any_size=False, entry=None):
        if form.slug != "native":
            names = {"format": form.name, "machine": machine.name, "kept": "counts"}
            raise ExchangeError("format", "machine_keeps_other", **names)
        rows = sorted((row.key, *row.held) for row in machine.win_counts.all())
        data = WinCounterData(
            game=machine.game_rules,
            rule=machine.rule,
            counts=tuple(rows),
            name=machine.name,
            description=machine.description,
            preset=machine.preset,
            learns=machine.learns,
            wins=machine.n_wins,
            draws=machine.n_draws,
            losses=machine.n_losses,
        )
        return native_text(data, "counts", ",".join(f"\n  {json.dumps(row)}" for row in rows))

    def fields_read(self, data):
        return {"side": None, "epsilon": 0.0}

    def restore(self, machine, data):
        WinCount.objects.bulk_create(
            WinCount(machine=machine, key=key, start=[games, wins], held=[games, wins])
            for key, games, wins in data.counts
        )
