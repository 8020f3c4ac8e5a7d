"""``manage.py replay``: teach two new machines recorded games, and write them to files; the database is not used."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from beadbox.learners.boxes.exchange import native, recorded_games
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.replay import replay, trainees_fresh
from beadbox.learners.exchange.errors import ExchangeError
from beadbox.learners.exchange.file_text import MAX_BYTES, text_of
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES, game_get
from learning.kinds.registry import kind_of_rule


class Command(BaseCommand):
    """Teach two new machines the games of a file."""

    help = "Teaches recorded games to two new machines, writes both to files, and prints games, results and levels."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """GAMES.json --game G --first RULE --second RULE --out DIR."""
        parser.add_argument("games", type=Path, help='a file {"games": [{"moves": […], "winner": 1, 2 or "draw"}]}')
        parser.add_argument("--game", required=True, choices=GAMES)
        parser.add_argument("--first", required=True, choices=PRESETS, help="preset of the first player")
        parser.add_argument("--second", required=True, choices=PRESETS, help="preset of the second player")
        parser.add_argument("--out", required=True, type=Path, help="folder for first.json and second.json")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read all games, replay them, then write both machines.

        Raises:
            CommandError: the file is invalid, a rule does not fit the game, or a file cannot be read or written.
        """
        game, presets = game_get(options["game"]), (options["first"], options["second"])
        try:
            games = recorded_games.load(text_of(_content(options["games"])), game)
        except ExchangeError as error:
            raise CommandError(f"{options['games']}: {error}") from None
        rules: list[Any] = [PRESETS[preset].rule for preset in presets]
        if not all(rule.fits(game) for rule in rules):
            raise CommandError(f"{game.name} {game.why_unlisted}, so no such machine can play it.")
        rules = [kind_of_rule(rule).page.suited(game, rule) for rule in rules]
        first, second = trainees_fresh(game, rules)
        self.stdout.write("game  moves  winner           level of first  second")
        for number, recorded in enumerate(games, start=1):
            replay((first, second), recorded)
            won = _won(recorded.winner, recorded.resigned)
            self.stdout.write(
                f"{number:>4}  {len(recorded.moves):>5}  {won:<15}  {first.machine.level:>14}"
                f"  {second.machine.level:>6}"
            )
        tally = first.tally
        self.stdout.write(
            f"{tally.games:,} games: {tally.wins:,} won by the first player, {tally.draws:,} drawn, "
            f"{tally.losses:,} won by the second; levels {first.machine.level} and {second.machine.level}"
        )
        for trainee, preset, name in ((first, presets[0], "first"), (second, presets[1], "second")):
            data = recorded_games.machine_of(trainee, name=f"{PRESETS[preset].name}, {name} player", preset=preset)
            self._write(options["out"] / f"{name}.json", native.dump(data))

    def _write(self, path: Path, text: str) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from None
        self.stdout.write(str(path))


def _won(winner: Side | None, resigned: Side | None) -> str:
    if winner is None:
        return "draw"
    return f"{int(winner) + 1}{' (resignation)' if resigned is not None else ''}"


def _content(path: Path) -> bytes:
    """Return the content of a file, cut off one byte above the size limit, so that the parser refuses a larger file."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from None
