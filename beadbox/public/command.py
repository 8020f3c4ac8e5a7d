"""The command ``beadbox``: play, train, strength, solve and show.

Exit codes: 0 for success, 1 for an error that the message explains, 2 for wrong arguments, 130 for Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from io import TextIOWrapper
from pathlib import Path

import beadbox as bb
from beadbox.kernels.random_source import RandomSource
from beadbox.names import did_you_mean
from beadbox.public.board import board_text
from beadbox.public.games import side_of
from beadbox.public.players import Player, common_game, contest_player, first_player_side
from beadbox.public.progress_bar import ProgressBar
from beadbox.rules.outcome import RESIGNATION
from beadbox.seeds import seed_checked

ERROR, INTERRUPTED = 1, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, by default those of the process; return the exit code."""
    options = _parser().parse_args(arguments)
    # With --json, standard output has only the JSON, so texts for a person go to standard error.
    options.text_stream = sys.stderr if options.json else sys.stdout
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # Some encodings lack letters in the names of games.
    try:
        options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # A reader such as `head` has closed the pipe. Python must not write the rest of the output when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (bb.BeadboxError, OSError) as error:
        sys.stderr.write(f"beadbox: {error}\n")
        return ERROR
    except KeyboardInterrupt:
        sys.stderr.write("\nbeadbox: stopped\n")
        return INTERRUPTED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="beadbox", description="Matchbox learning machines in a terminal.")
    parser.add_argument("--version", action="version", version=f"beadbox {bb.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name: str, run: Callable[[argparse.Namespace], None], description: str) -> argparse.ArgumentParser:
        command_parser = commands.add_parser(name, help=description, description=description)
        command_parser.add_argument("--json", action="store_true", help="print the result as JSON")
        command_parser.set_defaults(run=run)
        return command_parser

    player = "the name of an opponent, or the file of a machine"
    subcommand = command("play", _play, "Play a game in the terminal: type a move, or 'resign'.")
    subcommand.add_argument("game", nargs="?", help="the game; a machine's file knows its own")
    subcommand.add_argument("--against", default="random", help=f"{player}; random without it")
    subcommand.add_argument("--side", default=None, help="your side: first or second; without it the side that is free")
    subcommand.add_argument("--seed", type=int, default=0, help="the seed of the opponent's moves; 0 without it")
    subcommand = command("train", _train, "Train a machine and write it to a file.")
    subcommand.add_argument("file", type=Path, help="the machine's file; it is made if --game is given")
    subcommand.add_argument("--game", help="make a new machine for this game")
    subcommand.add_argument("--side", default="first", help="its side: first or second; first without it")
    subcommand.add_argument("--rule", help="its rule: the name of a preset; without it the usual preset of the game")
    subcommand.add_argument("--games", type=int, default=1000, help="the number of games; 1000 without it")
    subcommand.add_argument("--against", default="random", help=f"{player}; random without it")
    subcommand.add_argument(
        "--seed", type=int, help="begin with this seed; without it the machine's random state goes on"
    )
    subcommand = command("strength", _strength, "Print the exact strength of a player against others.")
    subcommand.add_argument("player", help=player)
    subcommand.add_argument("--game", help="the game, if no player is a machine")
    subcommand.add_argument("--side", help="the side of the player: first or second; without it the mean of both")
    subcommand.add_argument(
        "--against",
        action="append",
        help=f"{player}; may be given several times; without it random, win-block and perfect",
    )
    subcommand.add_argument("--games", type=int, help="play so many games instead, in a game with too many positions")
    subcommand = command("solve", _solve, "Say who wins a game or a position if neither side makes a mistake.")
    subcommand.add_argument("game", help="the name of a game")
    subcommand.add_argument("position", nargs="?", help="a position; without it the start")
    subcommand = command("show", _show, "Show the games, one game, a machine, or one of its boxes.")
    subcommand.add_argument(
        "what", nargs="?", help="the name of a game, or the file of a machine; without it all games"
    )
    subcommand.add_argument("position", nargs="?", help="a position of the game, or of the machine's box")
    return parser


def _player(name: str) -> Player:
    """Return the machine in a file of this name, or the name of an opponent."""
    if name in bb.opponents:
        return name
    if not Path(name).exists():
        raise bb.UnknownNameError(f"{name!r} is no file and no opponent. {did_you_mean(name, bb.opponents)}")
    return bb.load(name)


def _print_result(options: argparse.Namespace, result: object, text: str) -> None:
    """Print the result as JSON if the options ask for JSON, or else the text."""
    sys.stdout.write(f"{json.dumps(result, ensure_ascii=False) if options.json else text}\n")


def _side_name(game: bb.Game, side: bb.Side | None) -> str:
    return "nobody" if side is None else game.side_names[side]


def _play(options: argparse.Namespace) -> None:
    against = _player(options.against)
    game = _game_of(options.game, against)
    opponent_side = None if options.side is None else side_of(options.side, game).other
    opponent_seat = first_player_side(against, "random", game, opponent_side)
    own_side = bb.Side.FIRST if opponent_seat is None else opponent_seat.other
    rng = RandomSource(seed_checked(options.seed))
    mover = contest_player(against, game).played.mover(game.rules)
    position, moves, resigned = game.start, list[str](), None
    while (outcome := game.outcome(position)) is None and resigned is None:
        if game.side_to_move(position) is own_side:
            options.text_stream.write(f"\n{board_text(game, position)}\n")
            move = _read_move(options, game, position)
        else:
            found = mover(game.rules.decode(position), rng)
            move = None if found is None else game.rules.format_move(found)
            options.text_stream.write(f"The other side {'resigns' if move is None else f'plays {move}'}.\n")
        if move is None:
            resigned = game.side_to_move(position)
        else:
            moves.append(move)
            position = game.play(position, move)
    end = outcome or bb.Outcome(None if resigned is None else resigned.other, RESIGNATION)
    options.text_stream.write(f"\n{board_text(game, position)}\n")
    winner = "The game is drawn." if end.winner is None else f"{_side_name(game, end.winner).capitalize()} won."
    result = {"game": game.slug, "moves": moves, "winner": end.winner, "termination": end.termination}
    _print_result(options, result, winner)


def _read_move(options: argparse.Namespace, game: bb.Game, position: str) -> str | None:
    """Return the move that the player types; ``None`` if the player resigns or the input ends."""
    legal = game.legal_moves(position)
    options.text_stream.write(f"Your moves: {' '.join(legal)}\n")
    while True:
        options.text_stream.write("> ")
        options.text_stream.flush()
        typed = sys.stdin.readline()
        word = typed.strip()
        if word in legal:
            return word
        if not typed or word == "resign":
            return None
        options.text_stream.write(f"{word!r} is no legal move. Type one of: {' '.join(legal)}\n")


def _train(options: argparse.Namespace) -> None:
    if options.game is not None:
        if options.file.exists():
            raise bb.UnsupportedError(f"{options.file} exists. To train it further, give no --game.")
        machine = bb.machine(options.game, options.side, options.rule, seed=options.seed or 0)
    else:
        machine = bb.load(options.file)
    if not options.file.parent.is_dir():
        raise bb.FileError(f"There is no folder {options.file.parent}.")
    bar = ProgressBar(sys.stderr, "games")
    try:
        machine.train(options.games, _player(options.against), seed=options.seed, on_progress=bar.show)
    except KeyboardInterrupt:
        machine.save(options.file)
        raise
    machine.save(options.file)
    result = machine.history
    assert result is not None, "train() sets the history"
    rows = {"games": result.games, "wins": result.wins, "draws": result.draws, "losses": result.losses}
    counts = f"{result.games:,} games: {result.wins:,} won, {result.draws:,} drawn, {result.losses:,} lost"
    _print_result(options, {"file": str(options.file), **rows}, f"{counts}. Written to {options.file}")


def _strength(options: argparse.Namespace) -> None:
    player = _player(options.player)
    others = {name: _player(name) for name in options.against or ["random", "win-block", "perfect"]}
    game = _game_of(options.game, player, *others.values())
    if options.games is None and not game.is_listable:
        raise bb.UnsupportedError(f"{game.name} has too many positions for an exact result. Add --games 1000.")
    names = options.against or [name for name in others if bb.opponents[name].plays(game)]
    found = {
        name: bb.evaluate(player, others[name], game=game, side=options.side, games=options.games) for name in names
    }
    width = max(map(len, names))
    lines = [f"{'against':<{width}}    win   draw   loss  endless  points"]
    lines += [
        f"{name:<{width}} {one.win:6.1%} {one.draw:6.1%} {one.loss:6.1%} {one.endless:8.1%} {one.score:7.4f}"
        for name, one in found.items()
    ]
    _print_result(
        options,
        {name: asdict(one) | {"score": one.score} for name, one in found.items()},
        "\n".join(lines),
    )


def _solve(options: argparse.Namespace) -> None:
    game = bb.games[options.game]
    found = game.solve(options.position)
    if found.winner is not None:
        words = f"{_side_name(game, found.winner).capitalize()} win"
        words += "." if found.plies is None else f" in {found.plies} plies."
    else:
        words = "The game goes on for ever." if found.is_endless else "The game is drawn."
    moves = f"\nBest moves: {' '.join(found.best_moves)}" if found.best_moves else ""
    _print_result(options, asdict(found), f"{board_text(game, options.position or game.start)}\n\n{words}{moves}")


def _show(options: argparse.Namespace) -> None:
    if options.what is None:
        _print_result(
            options, list(bb.games), "\n".join(f"{slug:<40}{game.name}"[:80] for slug, game in bb.games.items())
        )
    elif options.what in bb.games:
        _show_game(options, bb.games[options.what])
    else:
        if not Path(options.what).exists():
            raise bb.UnknownNameError(
                f"{options.what!r} is no file and no game. {did_you_mean(options.what, bb.games)}"
            )
        _show_machine(options, bb.load(options.what))


def _show_game(options: argparse.Namespace, game: bb.Game) -> None:
    position = game.start if options.position is None else options.position
    moves = game.legal_moves(position)
    fields = {"game": game.slug, "position": position, "moves": list(moves)}
    text = f"{game.name}\n\n{board_text(game, position)}\n\nPosition: {position}\nMoves: {' '.join(moves) or 'none'}"
    _print_result(options, fields, text)


def _show_machine(options: argparse.Namespace, machine: bb.Machine) -> None:
    if options.position is None:
        tally, side = machine.tally, machine.side
        fields = {"game": machine.game.slug, "side": side, "rule": machine.rule.to_json(), **asdict(tally)}
        plays = "either side" if side is None else _side_name(machine.game, side)
        counts = f"{tally.games:,} games: {tally.wins:,} won, {tally.draws:,} drawn, {tally.losses:,} lost"
        _print_result(options, fields, f"{machine.game.name}, {plays}\n{counts}")
        return
    box = machine.box(options.position)
    beads = "\n".join(f"{move:<8}{count:>6}  {'o' * min(count, 60)}" for move, count in box.beads.items())
    _print_result(options, asdict(box), f"{board_text(machine.game, box.position)}\n\n{beads}")


def _game_of(name: str | None, *players: Player) -> bb.Game:
    if name is None and not any(isinstance(player, bb.Machine) for player in players):
        raise bb.UnsupportedError("Say which game: beadbox play hexapawn, or beadbox strength perfect --game hexapawn.")
    return common_game(players, name)
