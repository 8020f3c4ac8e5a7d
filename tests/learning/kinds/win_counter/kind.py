"""The kind. One line registers it: ``kind_register(WIN_COUNTER)``."""

from learning.kinds.kind import Kind
from tests.learning.kinds.win_counter.files import WinCounterFiles
from tests.learning.kinds.win_counter.learner import WinCounterRule
from tests.learning.kinds.win_counter.live import WinCounterLive
from tests.learning.kinds.win_counter.memory import MEMORY
from tests.learning.kinds.win_counter.page import WinCounterPage
from tests.learning.kinds.win_counter.training import WinCounterTraining

WIN_COUNTER = Kind(WinCounterRule, MEMORY, WinCounterLive, WinCounterTraining(), WinCounterFiles(), WinCounterPage())
