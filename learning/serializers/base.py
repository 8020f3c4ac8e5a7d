"""What the serializers of every subject share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from learning.core.machines.registry import rule_read
from learning.core.machines.rule import Rule, RuleError
from learning.core.seeds import MAX_SEED


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses a field it does not know: a mistyped name must not pass for something that was done."""

    def to_internal_value(self, data: Any) -> Any:
        """The values, or the errors by field."""
        values = super().to_internal_value(data)
        known = [name for name, field in self.fields.items() if not field.read_only]
        if unknown := [str(name) for name in data if name not in known]:
            problem = f"There is no such field to set; there are {', '.join(known)}."
            raise serializers.ValidationError({name: [problem] for name in unknown}, code="unknown_field")
        return values


@extend_schema_field({"type": "object", "description": "A learning rule; fields left out have their default."})
class RuleField(serializers.Field[Rule, Any, dict[str, Any], Rule]):
    """A rule of a machine's own, as an object."""

    def to_internal_value(self, data: Any) -> Rule:
        """The rule, or which of its fields is wrong."""
        try:
            return rule_read(data)
        except RuleError as error:
            problem = str(error).removeprefix(f"{error.field}: ")
            if not isinstance(data, Mapping):
                raise serializers.ValidationError(problem, code=error.code) from None
            raise serializers.ValidationError({error.field: [problem]}, code=error.code) from None

    def to_representation(self, value: Rule) -> dict[str, Any]:
        """The rule with all its fields."""
        return value.to_json()


class SeedField(serializers.IntegerField):
    """A seed."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_value=MAX_SEED, required=False, **kwargs)


class IntervalField(serializers.ListField):
    """From and to."""

    child = serializers.FloatField()
