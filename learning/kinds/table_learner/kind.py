"""Machines with a value for every board or move that they can reach; they play either side."""

from beadbox.learners.table_learner.rule import TableRule
from learning.kinds.kind import Kind
from learning.kinds.table_learner.files import TableLearnerFiles
from learning.kinds.table_learner.live import TableLearnerLive
from learning.kinds.table_learner.memory import MEMORY
from learning.kinds.table_learner.page import TableLearnerPage
from learning.kinds.table_learner.training import TableLearnerTraining

TABLE_LEARNER = Kind(
    TableRule, MEMORY, TableLearnerLive, TableLearnerTraining(), TableLearnerFiles(), TableLearnerPage()
)
