"""The tables of learning, one module for each subject; other packages import them from here."""

from learning.models.checks import NoneNegative, SameLength
from learning.models.classrooms import (
    MAX_PUPIL_NAME_LENGTH,
    ClassFinal,
    Classroom,
    ClassStatus,
    FinalDraw,
    FinalMatch,
    FinalPly,
    FinalResults,
    NotableBox,
    NotableBoxes,
    Participant,
    PupilPlace,
    class_sides,
)
from learning.models.experiments import ExperimentPart, ExperimentRun
from learning.models.jobs import Job, JobStatus, Turn
from learning.models.ledger import Change, Lesson, LessonKind, ValueChange
from learning.models.live import Decision, Draw, MachineSeat, Thought
from learning.models.machines import (
    MACHINE_SIDE_CHOICES,
    SIDE_CHOICES,
    AnyBox,
    Box,
    HeldBox,
    Machine,
    machine_slug,
)
from learning.models.runs import SECOND_MACHINE, CurvePoint, RunStage, TrainingRun
from learning.models.schedules import Schedule
from learning.models.sharing import AccessList, MovedGuest, SharedLink, link_entry, pupil_entry
from learning.models.snapshots import Measurement, Snapshot
from learning.models.standings import Standing
from learning.models.tournaments import Pairing, Tournament, TournamentEntry, TournamentFormat
from learning.models.values import Value
from learning.models.weights import Weights

__all__ = [
    "MACHINE_SIDE_CHOICES",
    "MAX_PUPIL_NAME_LENGTH",
    "SECOND_MACHINE",
    "SIDE_CHOICES",
    "AccessList",
    "AnyBox",
    "Box",
    "Change",
    "ClassFinal",
    "ClassStatus",
    "Classroom",
    "CurvePoint",
    "Decision",
    "Draw",
    "ExperimentPart",
    "ExperimentRun",
    "FinalDraw",
    "FinalMatch",
    "FinalPly",
    "FinalResults",
    "HeldBox",
    "Job",
    "JobStatus",
    "Lesson",
    "LessonKind",
    "Machine",
    "MachineSeat",
    "Measurement",
    "MovedGuest",
    "NoneNegative",
    "NotableBox",
    "NotableBoxes",
    "Pairing",
    "Participant",
    "PupilPlace",
    "RunStage",
    "SameLength",
    "Schedule",
    "SharedLink",
    "Snapshot",
    "Standing",
    "Thought",
    "Tournament",
    "TournamentEntry",
    "TournamentFormat",
    "TrainingRun",
    "Turn",
    "Value",
    "ValueChange",
    "Weights",
    "class_sides",
    "link_entry",
    "machine_slug",
    "pupil_entry",
]
