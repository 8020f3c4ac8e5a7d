"""Machines that keep beads in boxes and always play the same side."""

from beadbox.learners.boxes.rule import BoxRule
from learning.kinds.boxes.files import BoxesFiles
from learning.kinds.boxes.live import BoxesLive
from learning.kinds.boxes.memory import MEMORY
from learning.kinds.boxes.page import BoxesPage
from learning.kinds.boxes.training import BoxesTraining
from learning.kinds.kind import Kind

BOXES = Kind(BoxRule, MEMORY, BoxesLive, BoxesTraining(), BoxesFiles(), BoxesPage())
