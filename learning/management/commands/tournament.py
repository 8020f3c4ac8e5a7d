"""``manage.py tournament``: play a tournament in this process, by the same code as the workers."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from beadbox.rules.outcome import Side
from beadbox.seeds import seed_or_random
from games.exceptions import PlayError
from learning.models import JobStatus, Tournament, TournamentFormat
from learning.selectors.tournaments import tournament_whole
from learning.services.tournaments import tournament_start
from learning.states import TournamentState
from learning.workers.pairings import tournament_play


class Command(BaseCommand):
    """Play a tournament and print its standings."""

    help = "Plays a tournament of machines and fixed opponents, and prints the standings. The machines do not learn."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """--machines A,B,C --games N [--seed S] [--game G] [--format swiss [--rounds R]]."""
        parser.add_argument("--machines", required=True, help="ids or slugs of machines, and fixed opponents: A,B,C")
        parser.add_argument("--games", type=int, required=True, help="number of games of each pairing")
        parser.add_argument("--seed", type=int, help="default: a random seed, which is printed")
        parser.add_argument("--game", default="", help="slug of the game; required if no entry is a machine")
        parser.add_argument("--format", choices=TournamentFormat.values, default=TournamentFormat.ROUND_ROBIN.value)
        parser.add_argument(
            "--rounds",
            type=int,
            help="number of rounds of a Swiss tournament; the default depends on the number of entries",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Start the tournament, play it, and print its standings."""
        seed = seed_or_random(options["seed"])
        try:
            tournament = tournament_start(
                user=None,
                entries=[entry.strip() for entry in options["machines"].split(",") if entry.strip()],
                games=options["games"],
                game=options["game"],
                format=options["format"],
                rounds=options["rounds"],
                seed=seed,
                enqueue=False,
            )
        except PlayError as error:
            raise CommandError(str(error)) from None
        tournament_play(tournament.pk)
        tournament = Tournament.objects.select_related("owner").get(pk=tournament.pk)
        if tournament.status != JobStatus.FINISHED:
            raise CommandError(f"the tournament is {tournament.status}: {tournament.error}")
        self._print(tournament_whole(tournament)[0], seed)

    def _print(self, view: TournamentState, seed: int) -> None:
        names = {entry["number"]: entry["name"] for entry in view["entries"]}
        sides = {entry["number"]: entry["side"] for entry in view["entries"]}
        width = max(len("name"), *map(len, names.values()))
        heads = f"{'games':>9} {'won':>9} {'drawn':>9} {'lost':>9} {'score':>7} {'exact':>7} {'openskill':>13}"
        self.stdout.write(f"{'':>4} {'name':<{width}} {heads}")
        for index, row in enumerate(view["standings"]):
            side = sides[row["entry"]]
            if index == 0 or side != sides[view["standings"][index - 1]["entry"]]:
                self.stdout.write("both sides" if side is None else f"{Side(side).name.lower()} player")
            expected, games = row["expected"], row["games"]
            exact = "–" if expected is None or not games else f"{expected / games:.1%}"
            self.stdout.write(
                f"{row['place']:>3}. {names[row['entry']]:<{width}} {row['games']:>9,} {row['wins']:>9,}"
                f" {row['draws']:>9,} {row['losses']:>9,} {row['score']:>7.1%} {exact:>7}"
                f" {row['rating']:>6.1f} ± {row['uncertainty']:.1f}"
            )
        self.stdout.write(
            f"{view['pairings_total']} pairings of {view['games']:,} games, {view['format']}, seed {seed}"
        )
