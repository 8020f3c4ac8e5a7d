"""Machines that learn a value of positions, and play either side by a search with this value."""

from beadbox.learners.value_learner.rule import ValueRule
from learning.kinds.kind import Kind
from learning.kinds.value_learner.files import ValueLearnerFiles
from learning.kinds.value_learner.live import ValueLearnerLive
from learning.kinds.value_learner.memory import MEMORY
from learning.kinds.value_learner.page import ValueLearnerPage
from learning.kinds.value_learner.training import ValueLearnerTraining

VALUE_LEARNER = Kind(
    ValueRule, MEMORY, ValueLearnerLive, ValueLearnerTraining(), ValueLearnerFiles(), ValueLearnerPage()
)
