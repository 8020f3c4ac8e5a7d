"""Errors of the learning services. Views and the API answer with the ``code`` and ``status`` of an error."""

from games.exceptions import PlayError


class MachineNotFoundError(PlayError):
    message = "There is no such machine, or its owner keeps it private."
    code = "machine_not_found"
    status = 404
    may_be_hidden = True


class NotYourMachineError(PlayError):
    message = "This machine is not yours."
    code = "not_your_machine"
    status = 403


class MachineQuotaError(PlayError):
    message = "You have the most machines you can have. Delete one first."
    code = "machine_quota"
    status = 409


class NoPersonalMachineError(PlayError):
    message = "No machine with boxes can learn this game."
    code = "no_pupil"
    status = 400


class ValueQuotaError(PlayError):
    message = "Your machines hold the most values they can. Delete a machine first."
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
    message = "This machine has learnt too much since then, so it cannot go back."
    code = "snapshot_far"
    status = 409


class HistoryCompactedError(PlayError):
    message = "The history of this machine does not go back that far."
    code = "history_folded"
    status = 410


class NoWeightsError(PlayError):
    message = "This machine has no weights."
    code = "no_weights"
    status = 404


class GameTooLargeError(PlayError):
    """The game has too many positions to list, or positions that can repeat."""

    message = "The positions of this game cannot all be listed, so this cannot be done."
    code = "game_too_large"
    status = 400


class NoEngineError(PlayError):
    message = "No engine plays this game, so the site has no advice for it."
    code = "no_engine"
    status = 404


class RunNotFoundError(PlayError):
    message = "There is no such training run, or its machine is private."
    code = "run_not_found"
    status = 404
    may_be_hidden = True


class RunQuotaError(PlayError):
    message = "You have the most open trainings you can have. Wait for one to end, or cancel one."
    code = "run_quota"
    status = 409


class RunOverError(PlayError):
    message = "This training run is over."
    code = "run_over"
    status = 409


class MachinePublicError(PlayError):
    message = "This machine is public. Anyone can look at it, so it needs no secret link."
    code = "machine_public"
    status = 409


class LinkNotFoundError(PlayError):
    """No shared link has this secret. Among the errors of links, only this one counts as a guess."""

    message = "This link is not complete, or a letter in it is wrong. Ask your friend to send the whole link again."
    code = "link_not_found"
    status = 404


class LinkEndedError(PlayError):
    message = "This link has been taken back. Ask your friend for a new one."
    code = "link_ended"
    status = 404


class LinkedMachineGoneError(PlayError):
    message = "The machine behind this link does not exist any more. You can start one of your own on the front page."
    code = "linked_machine_gone"
    status = 404


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


class UnsuitedRuleRefusedError(RuleRefusedError):
    message = "This rule cannot learn the game, although other rules of its kind can."
    code = "unsuited_rule"


class TrainingRefusedError(PlayError):
    message = "The site cannot start this training."
    code = "training_refused"


class MachineFileError(PlayError):
    message = "This file does not hold a machine that the site can read."
    code = "machine_file"


class ScheduleNotFoundError(PlayError):
    message = "There is no such schedule."
    code = "schedule_not_found"
    status = 404


class ScheduleRefusedError(PlayError):
    message = "The site cannot save this schedule."
    code = "schedule_refused"


class ScheduleQuotaError(PlayError):
    message = "You have the most schedules you can have. Delete one first."
    code = "schedule_quota"
    status = 409


class TournamentNotFoundError(PlayError):
    message = "There is no such tournament, or it is private."
    code = "tournament_not_found"
    status = 404
    may_be_hidden = True


class TournamentRefusedError(PlayError):
    message = "The site cannot start this tournament."
    code = "tournament_refused"


class EntryGoneError(PlayError):
    message = "A machine in this tournament was deleted or reset before the end."
    code = "entry_gone"
    status = 409


class TournamentQuotaError(PlayError):
    message = "You have the most open tournaments you can have. Wait for one to end, or cancel one."
    code = "tournament_quota"
    status = 409


class NotYourTournamentError(PlayError):
    message = "This tournament is not yours. You can watch it."
    code = "not_your_tournament"
    status = 403


class PrintRefusedError(PlayError):
    message = "The site cannot print this."
    code = "print_refused"


class ManyBeadsRefusedError(PrintRefusedError):
    message = "This print needs more beads than most people have."


class PageTooLargeError(PlayError):
    message = "This game has too many boards for a saved page. Choose a smaller game, or one box for matching boards."
    code = "page_too_large"


class ExperimentNotFoundError(PlayError):
    message = "There is no such experiment."
    code = "experiment_not_found"
    status = 404


class ExperimentRefusedError(PlayError):
    message = "The site cannot run this experiment."
    code = "experiment_refused"


class ExperimentQuotaError(PlayError):
    message = "The most experiments that can run at once are running. Wait for one to end, then try again."
    code = "experiment_quota"
    status = 409


class NotYourExperimentError(PlayError):
    message = "This experiment is not yours. Only the person who started it can stop it."
    code = "not_your_experiment"
    status = 403


class ClassNotFoundError(PlayError):
    """No class has this code or link. Among the errors of classes, only this one counts as a guess."""

    message = "There is no class with this code. Look at the board, and type the code again."
    code = "class_not_found"
    status = 404


class NotYourClassError(PlayError):
    message = "This class is not yours."
    code = "not_your_class"
    status = 404
    may_be_hidden = True


class ClassPausedError(PlayError):
    message = "Your teacher has paused the class. Look up, and wait until it goes on."
    code = "class_paused"
    status = 409


class ClassFinishedError(PlayError):
    message = "This class is over. Your teacher can open it again."
    code = "class_finished"
    status = 409


class ClassLockedError(PlayError):
    message = "This class takes no new pupils. Ask your teacher to unlock it."
    code = "class_locked"
    status = 409


class ClassFullError(PlayError):
    message = "This class is full. Share a screen with another pupil."
    code = "class_full"
    status = 409


class ClassQuotaError(PlayError):
    message = "You have the most classes that you can have. Finish or delete one first."
    code = "class_quota"
    status = 409


class ClassRefusedError(PlayError):
    message = "The class cannot be opened like this."
    code = "class_refused"


class NoResultsError(PlayError):
    message = "This class has no results yet. The teacher starts the final on the page of the class."
    code = "no_class_results"
    status = 404


class NoPupilError(PlayError):
    message = "You are in no class with this browser. Type the code of the class, or your return code."
    code = "no_class_pupil"
    status = 404


class PupilRemovedError(PlayError):
    message = "Your teacher has taken you out of this class. Ask your teacher if you want to come back."
    code = "pupil_removed"
    status = 409


class PupilNameError(PlayError):
    message = "Choose another name."
    code = "pupil_name"


class AccountNotClosedError(Exception):
    """An account was not closed, for the reason in the message. Only the admin closes accounts, so it has no code."""
