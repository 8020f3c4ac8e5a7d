"""The native file of a Q-learner."""

from beadbox.learners.exchange.values import values_machine
from learning.kinds.keyed_values.files import KeyedFiles


class QLearningFiles(KeyedFiles):
    """Files of Q-learners, with the keys of the game's engine."""

    read = staticmethod(values_machine)
