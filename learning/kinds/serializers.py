"""What the API answers about a position, by the kinds that answer; apart, so that no worker loads it."""

from learning.kinds.keyed_values.serializers import PositionValuesSerializer
from learning.kinds.value_learner.serializers import PositionPartsSerializer

POSITION_SERIALIZERS = (PositionValuesSerializer, PositionPartsSerializer)
