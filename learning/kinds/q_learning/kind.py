"""Machines that keep a value for every move they have tried, and play either side."""

from beadbox.learners.q_learning.rule import QRule
from learning.kinds.kind import Kind
from learning.kinds.q_learning.files import QLearningFiles
from learning.kinds.q_learning.live import QLearningLive
from learning.kinds.q_learning.memory import MEMORY
from learning.kinds.q_learning.page import QLearningPage
from learning.kinds.q_learning.training import QLearningTraining

Q_LEARNING = Kind(QRule, MEMORY, QLearningLive, QLearningTraining(), QLearningFiles(), QLearningPage())
