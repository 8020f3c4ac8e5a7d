"""The native file of a table learner."""

from beadbox.learners.table_learner.document import table_document
from learning.kinds.keyed_values.files import KeyedFiles


class TableLearnerFiles(KeyedFiles):
    """Files of table learners; an import checks every key."""

    read = staticmethod(table_document)
