"""Serializers for the API's views of positions; a separate module, so that no worker loads it."""

from learning.kinds.keyed_values.serializers import PositionValuesSerializer
from learning.kinds.value_learner.serializers import PositionPartsSerializer

POSITION_SERIALIZERS = (PositionValuesSerializer, PositionPartsSerializer)
