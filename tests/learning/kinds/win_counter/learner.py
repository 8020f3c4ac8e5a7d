"""The machine: it plays the move that has won most often, and counts games and wins."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from beadbox import field_text
from beadbox.learners.rule import RuleError
from beadbox.rules.game import Game
from beadbox.rules.outcome import Result, Side, Tally
from beadbox.rules.play import game_played
from beadbox.strength.sampled import sample


@dataclass(frozen=True, slots=True)
class WinCounterRule:
    kind: ClassVar[str] = "win-counter"
    keeps: ClassVar[str] = "the games and wins of each of its moves"
    has_boxes: ClassVar[bool] = False

    prior: int = 1
    """The prior wins of every move, out of twice as many prior games."""

    @classmethod
    def fits(cls, game):
        return game.listable and game.supports_boxes

    def require_suited(self, game):
        pass

    def to_json(self):
        return {"kind": self.kind, **asdict(self)}

    @classmethod
    def from_json(cls, data):
        if unknown_fields := data.keys() - {"kind", "prior"}:
            raise RuleError(min(unknown_fields), field_text.unknown_field(["kind", "prior"]))
        return cls(**{name: value for name, value in data.items() if name != "kind"})


def key_of(game, position, move):
    return f"{game.encode(position)} {game.format_move(move)}"


@dataclass
class WinCounter:
    """A machine with its rows: ``counts`` has (games, wins) by key, ``new_counts`` those since loading."""

    game: Game[Any, Any]
    rule: WinCounterRule
    counts: dict[str, tuple[int, int]]
    new_counts: dict[str, list[int]] = field(default_factory=dict)
    n_left_out: int = 0

    def win_shares(self, position):
        shares = []
        for move in self.game.legal_moves(position):
            n_games, n_wins = self.counts.get(key_of(self.game, position, move), (0, 0))
            shares.append((n_wins + self.rule.prior) / (n_games + 2 * self.rule.prior))
        return shares

    def policy(self, position):
        """The best moves share all probability equally."""
        win_shares = self.win_shares(position)
        best = [share == max(win_shares) for share in win_shares]
        chances = [one / sum(best) for one in best]
        return dict(zip(self.game.legal_moves(position), chances, strict=True))

    def choose(self, position, rng):
        best = [move for move, chance in self.policy(position).items() if chance]
        return best[rng.below(len(best))], None

    def mover(self, game, keys=None):
        def move(position, rng):
            chosen, _ = self.choose(position, rng)
            if keys is not None:
                keys.append(key_of(game, position, chosen))
            return chosen

        return move

    def teach(self, keys, result):
        for key in keys:
            change = [1, int(result is Result.WIN)]
            self.counts[key] = tuple(sum(pair) for pair in zip(self.counts.get(key, (0, 0)), change, strict=True))
            self.new_counts[key] = [sum(pair) for pair in zip(self.new_counts.get(key, (0, 0)), change, strict=True)]

    def train(self, opponent, n_games, rng):
        return self._play_games(opponent, n_games, rng, learns=False)

    def train_against(self, opponent, n_games, rng, *, opponent_learns):
        return self._play_games(opponent, n_games, rng, learns=opponent_learns)

    def _play_games(self, opponent, n_games, rng, *, learns):
        tally = Tally()
        for _ in range(n_games):
            side, own_keys, other_keys = Side(rng.below(2)), [], []
            other = opponent.mover(self.game, other_keys) if learns else opponent.mover(self.game)
            results = game_played(self.game, {side: self.mover(self.game, own_keys), side.other: other}, rng)
            self.teach(own_keys, results[side])
            if learns:
                opponent.teach(other_keys, results[side.other])
            tally.add(results[side])
        return tally

    def sample(self, opponent, n_games, rng):
        sides = iter(range(n_games))

        def play_sample_game():
            side = Side(next(sides) % 2)
            movers = {side: self.mover(self.game), side.other: opponent.mover(self.game)}
            return game_played(self.game, movers, rng)[side]

        return sample(play_sample_game, n_games)
