"""The page and the form of the kind."""

from __future__ import annotations

from typing import ClassVar

from beadbox.learners.preset import Preset
from learning.kinds.page import KindPage, KindText, Page, RuleGroup, Words
from tests.learning.kinds.win_counter.learner import WinCounterRule


class WinCounterPage(KindPage):
    presets: ClassVar = {
        "win-counter": Preset("win-counter", "Counts wins", "What has won most often.", "a test", WinCounterRule()),
    }
    text = KindText(
        noun="counts",
        words={"prior": Words("Imagined wins", "It imagines so many wins of each move before its first game.")},
        groups=(RuleGroup("The start", ("prior",)),),
        see="See its counts",
        admin_list=("machine", "id__exact"),
    )

    def usual_name(self, game, side, preset):
        return f"{game.name}, counted"

    def rule_sentences(self, rule):
        return [("Plays", "The move that has won most often.")]

    def content_phrase(self, machine):
        return f"{machine.win_counts.count():,} counts"

    def machine_page(self, machine, strength, asked):
        plain = super().machine_page(machine, strength, asked)
        most = sorted((-row.held[1], row.key) for row in machine.win_counts.all())[:5]
        return Page("win_counter/machine.html", plain.context | {"most": [(key, -wins) for wins, key in most]})
