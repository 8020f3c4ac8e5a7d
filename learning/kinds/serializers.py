"""Serializers for the API's views of positions. They are in a separate module, so that workers do not load them."""

from learning.kinds.keyed_values.serializers import PositionValuesSerializer
from learning.kinds.value_learner.serializers import PositionPartsSerializer

POSITION_SERIALIZERS = (PositionValuesSerializer, PositionPartsSerializer)
