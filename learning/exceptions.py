"""Refusals of the learning services; the edge answers them by ``code`` and ``status``, as those of the games."""

from games.exceptions import PlayError


class MachineNotFoundError(PlayError):
    message = "There is no such machine."
    code = "machine_not_found"
    status = 404


class NotYourMachineError(PlayError):
    message = "This machine is not yours."
    code = "not_your_machine"
    status = 403


class MachineQuotaError(PlayError):
    message = "You have as many machines as an account may have. Delete one first."
    code = "machine_quota"
    status = 409


class NoPupilError(PlayError):
    message = "No machine with boxes can learn this game."
    code = "no_pupil"
    status = 400


class ValueQuotaError(PlayError):
    message = "These machines would have more values together than they may."
    code = "value_quota"
    status = 409


class MachineBusyError(PlayError):
    message = "This machine is being trained. Wait, or cancel the training first."
    code = "machine_busy"
    status = 409


class SnapshotNotFoundError(PlayError):
    message = "There is no such snapshot of this machine."
    code = "snapshot_not_found"
    status = 404


class SnapshotFarError(PlayError):
    message = "It has learnt too much since to be put back at once."
    code = "snapshot_far"
    status = 409


class HistoryFoldedError(PlayError):
    message = "The machine's history does not go back so far."
    code = "history_folded"
    status = 410


class NoWeightsError(PlayError):
    message = "This machine has no weights."
    code = "no_weights"
    status = 404


class GameTooLargeError(PlayError):
    message = "This game has too many positions for what was asked."
    code = "game_too_large"
    status = 400


class NoEngineError(PlayError):
    message = "No engine plays this game, so there is nobody to ask."
    code = "no_engine"
    status = 404


class RunNotFoundError(PlayError):
    message = "There is no such training run."
    code = "run_not_found"
    status = 404


class RunQuotaError(PlayError):
    message = (
        "You have as many trainings waiting or going on as an account may have. Wait for one to end, or cancel one."
    )
    code = "run_quota"
    status = 409


class RunOverError(PlayError):
    message = "This training run is over."
    code = "run_over"
    status = 409


class MachineWrongSideError(PlayError):
    message = "This machine plays the other side."
    code = "machine_wrong_side"
    status = 409


class BoxNotFoundError(PlayError):
    message = "The machine has no box for this position."
    code = "box_not_found"
    status = 404


class NoBoxesError(BoxNotFoundError):
    message = "This machine has no boxes."
    code = "no_boxes"


class RuleRefusedError(PlayError):
    message = "This rule does not fit the game."
    code = "rule_refused"


class TrainingRefusedError(PlayError):
    message = "This training cannot be done."
    code = "training_refused"


class MachineFileError(PlayError):
    message = "No machine could be read from this file."
    code = "machine_file"


class ScheduleNotFoundError(PlayError):
    message = "There is no such schedule."
    code = "schedule_not_found"
    status = 404


class ScheduleRefusedError(PlayError):
    message = "This schedule cannot be kept."
    code = "schedule_refused"


class ScheduleQuotaError(PlayError):
    message = "You have as many schedules as an account may have. Delete one first."
    code = "schedule_quota"
    status = 409


class TournamentNotFoundError(PlayError):
    message = "There is no such tournament."
    code = "tournament_not_found"
    status = 404


class TournamentRefusedError(PlayError):
    message = "This tournament cannot be held."
    code = "tournament_refused"


class EntryGoneError(PlayError):
    message = "A machine that takes part was deleted or made to forget while the tournament went on."
    code = "entry_gone"
    status = 409


class TournamentQuotaError(PlayError):
    message = "You have as many tournaments going on as an account may have. Wait for one to end, or call one off."
    code = "tournament_quota"
    status = 409


class NotYourTournamentError(PlayError):
    message = "This tournament is not yours. You may watch it."
    code = "not_your_tournament"
    status = 403


class PrintRefusedError(PlayError):
    message = "This cannot be printed."
    code = "print_refused"


class SchoolingBusyError(PlayError):
    message = "Very many are watching machines learn at this moment. Try again in a second."
    code = "busy"
    status = 503

    def __init__(self, retry_after_s: int = 1) -> None:
        super().__init__()
        self.retry_after_s = retry_after_s


class ExperimentNotFoundError(PlayError):
    message = "There is no such experiment."
    code = "experiment_not_found"
    status = 404


class ExperimentRefusedError(PlayError):
    message = "This experiment cannot be run."
    code = "experiment_refused"


class ExperimentQuotaError(PlayError):
    message = "As many experiments are going on as there may be at once. Wait for one to end, then try again."
    code = "experiment_quota"
    status = 409


class NotYourExperimentError(PlayError):
    message = "Somebody else began this. Only they can stop it."
    code = "not_your_experiment"
    status = 403


class AccountNotClosedError(Exception):
    """An account stays open, and why. Only the staff hears of it, in the admin: no address of the API says it."""
