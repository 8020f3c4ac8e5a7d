from django.db import migrations

from games.transport.migration_operations import AlterHelpTexts

HELP_TEXTS = {
    "experimentpart.found": "The results of the parts, in order.",
    "trainingrun.leased_by": "Host and process of the worker that holds the lease.",
    "pairing.leased_by": "Host and process of the worker that holds the lease.",
    "experimentrun.leased_by": "Host and process of the worker that holds the lease.",
    "trainingrun.request_id": "Id of the request that created the job, as in the log.",
    "pairing.request_id": "Id of the request that created the job, as in the log.",
    "experimentrun.request_id": "Id of the request that created the job, as in the log.",
    "lesson.stands_for": "Number of consecutive lessons that this entry stands for, itself included: 1, or more after "
    "compaction.",
    "lesson.run": "The training run. It is deleted with the trained machine; the lessons of its opponent stay.",
    "change.ply": "The ply of the match; empty if the lesson is not of a match.",
    "valuechange.ply": "The ply of the match; empty if the lesson is not of a match.",
    "draw.position": "The canonical position of the box.",
    "thought.n_lessons": "Number of the machine's lessons at the time of the move.",
    "thought.chosen": "Index of the move played among the legal moves, from 0.",
    "thought.near": "Score of each legal move at depth 1, in canonical order.",
    "thought.deep": "Score of each legal move at full depth. The score may be a bound, and is empty if the search did "
    "not need it.",
    "thought.depth": "Full depth of the search, in moves.",
    "decision.key": "Key of the Q-table entry of the action played.",
    "decision.chosen": "Index of the action played among the legal actions, from 0.",
    "decision.values": "Value of each legal action before the move, in canonical order.",
    "decision.explored": "Whether the action was drawn at random, to explore.",
    "decision.epsilon": "The exploration rate at the time of the move.",
    "sharedlink.ended_at": "When the owner ended the link.",
    "machine.search_name": "The folded form of the name, for searches (beadbox.names).",
    "machine.preset": "Slug of the preset from which the rule was copied.",
    "machine.guest": "The guest that owns the machine. No other visitor sees it.",
    "machine.made_from": "Keyed hash of the address from which a guest made the machine; empty if no guest owns it.",
    "machine.is_pupil": "Whether this is its owner's personal machine for its game and side, which learns with one "
    "click.",
    "machine.shares": "The machine whose boxes this machine shares, except at positions where it has a box of its own.",
    "machine.shares_to_lesson": "Id of the last lesson that the other machine shares with this one; 0 if there was "
    "none.",
    "machine.shares_to_box": "Id of the last box that the other machine shares with this one; 0 if there was none.",
    "machine.room": "The room for which this copy was made.",
    "machine.share": "The link that shows the machine. For a copy: the link through which the original was played.",
    "machine.epsilon": "Chance of a random move. Only machines without boxes have one.",
    "machine.n_values": "Number of entries in the machine's Q-table, stored because counting a million rows takes too "
    "long.",
    "machine.n_forgotten": "Number of the last reset in the ledger, which begins after it; 0 without a reset.",
    "machine.n_folded": "Number of the last compacted lesson; 0 if none is. The history is kept from the next lesson "
    "on.",
    "machine.folded_at": "The time of the last compacted lesson.",
    "machine.is_folding": "Whether the compaction is unfinished.",
    "box.move_number": "Counts the machine's own moves: 1 for its first move.",
    "heldbox.move_number": "Counts the machine's own moves: 1 for its first move.",
    "box.start": "Initial beads of the box. In a copy they differ from the rule's.",
    "heldbox.start": "Initial beads of the box. In a copy they differ from the rule's.",
    "box.visits": "For each slot: the number of times it was played in games from which the machine learnt.",
    "heldbox.visits": "For each slot: the number of times it was played in games from which the machine learnt.",
    "trainingrun.last_lesson": "Number of the machine's last lesson from this run; 0 before the first.",
    "trainingrun.random_state": "State of the random generator: two words, hexadecimal.",
    "trainingrun.most_values": "Maximum number of the machine's values after this run. Only machines with a growing "
    "table have such a limit.",
    "trainingrun.n_left_out": "Number of further values that the machine met and did not learn, because of that limit.",
    "trainingrun.n_measured": "Games of each snapshot against each level, half of them on either side; 0 for no "
    "measurements.",
    "runstage.opponent_machine": "The opponent, until it is deleted.",
    "runstage.opponent_name": "Name of the opponent's machine at the start.",
    "runstage.most_values": "Maximum number of the opponent's values after the run, if it learns and its table grows.",
    "curvepoint.n_wins": "Wins in training since the run began.",
    "schedule.stages": "A list of objects with opponent, games and learns, as in a run.",
    "schedule.seed": "The seed of every run; empty for a new seed each time.",
    "snapshot.games_done": "Games of the run before the snapshot; 0 for the state before the run.",
    "snapshot.n_trained": "Games of all trainings of the machine before the snapshot.",
    "snapshot.n_left": "Training games that the machine no longer knew, because an earlier snapshot had been chosen.",
    "snapshot.n_lessons": "Number of the machine's last lesson before the snapshot.",
    "snapshot.epsilon": "The exploration rate at the snapshot.",
    "snapshot.plays_since": "For the snapshot that was chosen last: number of the machine's last lesson at that time.",
    "snapshot.is_by_hand": "Whether a person chose the snapshot, and not the measurements.",
    "measurement.seed": "The seed of the games.",
    "standing.measured": "Number of the machine's lessons when its strength was last computed; -1 if it never was.",
    "standing.score": "The strength as one number, for sorting: win + draw / 2.",
    "standing.curve": "Numbers of games and scores in turn, in order of games.",
    "tournament.n_games": "Games of each pairing.",
    "tournament.n_rounds": "Number of rounds; 1 for a round robin.",
    "tournament.round": "Number of the current round, from 1.",
    "tournament.is_public": "Whether all machines in the tournament are public.",
    "tournamententry.machine": "The machine, until it is deleted.",
    "tournamententry.side": "Empty if the entry plays both sides.",
    "tournamententry.beads": "The beads of every box, by position.",
    "tournamententry.epsilon": "The exploration rate of a machine without boxes.",
    "tournamententry.n_lessons": "For a machine without boxes: the number of its lessons at the start. It plays with "
    "what it knew then.",
    "pairing.number": "0 for the first; also the number of the pairing's random stream.",
    "pairing.random_state": "State of the random generator after the games played so far: two words, hexadecimal.",
    "pairing.expected": "Exact chances: first wins, draw, second wins. Empty if the game is too large to compute them.",
    "value.key": "Action and pieces, in the notation of docs/rules/romgon.md.",
    "value.start": "The value at the beginning of the ledger; not 0 in a copy.",
    "value.n_visits": "Number of updates of the value.",
    "weights.lesson": "Empty for the initial weights.",
    "weights.n_learnt": "Number of games learnt from; a game against itself counts once.",
    "weights.weights": "The weights as float64, little-endian, in the order of the features.",
    "weights.average": "Their mean over the last games, in the same form; zeros if the rule has no average.",
}


class Migration(migrations.Migration):
    dependencies = [("learning", "0041_class_owns_its_machines")]

    operations = [migrations.SeparateDatabaseAndState(state_operations=[AlterHelpTexts(HELP_TEXTS)])]
