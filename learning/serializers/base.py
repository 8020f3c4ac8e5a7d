"""Serializer fields shared by all subjects: slugs, rules, seeds and intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from beadbox.learners.registry import rule_read
from beadbox.learners.rule import Rule, RuleError
from beadbox.names import MAX_SLUG_CHARACTERS, did_you_mean
from beadbox.seeds import MAX_JSON_NUMBER, MAX_SEED, seed_to_json


class SlugChoiceField(serializers.ChoiceField):
    """A choice of slugs; the error for another text suggests the most similar slug."""

    def fail(self, key: str, **kwargs: Any) -> NoReturn:
        """Raise the error of this key, with a suggestion for an invalid choice.

        Raises:
            ValidationError: always.
        """
        if key != "invalid_choice":
            super().fail(key, **kwargs)
        text = str(kwargs["input"])
        suggestion = did_you_mean(text, map(str, self.choices))
        raise serializers.ValidationError(
            f"{text[:MAX_SLUG_CHARACTERS]!r} is none of the choices. {suggestion}", code=key
        )


@extend_schema_field({"type": "object", "description": "A learning rule; omitted fields have their default."})
class RuleField(serializers.Field[Rule, Any, dict[str, Any], Rule]):
    """A learning rule, written as a JSON object."""

    def to_internal_value(self, data: Any) -> Rule:
        """Parse the rule, with defaults for absent fields.

        Raises:
            ValidationError: the value is no object, or has a wrong field, which is named.
        """
        try:
            return rule_read(data)
        except RuleError as error:
            problem = str(error).removeprefix(f"{error.field}: ")
            if not isinstance(data, Mapping):
                raise serializers.ValidationError(problem, code=error.code) from None
            raise serializers.ValidationError({error.field: [problem]}, code=error.code) from None

    def to_representation(self, value: Rule) -> dict[str, object]:
        """Return the rule with all its fields."""
        return value.to_json()


_SEED_TEXT = {"type": "string", "pattern": "^[0-9]{1,19}$"}


@extend_schema_field({"oneOf": [{"type": "integer", "minimum": 0, "maximum": MAX_SEED}, _SEED_TEXT]})
class SeedField(serializers.IntegerField):
    """A seed in a request, as a number or as text."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_value=MAX_SEED, required=False, **kwargs)


@extend_schema_field({"oneOf": [{"type": "integer", "minimum": 0, "maximum": MAX_JSON_NUMBER}, _SEED_TEXT]})
class AnsweredSeedField(serializers.Field[Any, Any, int | str, Any]):
    """A seed in a response, as a number or as text (:func:`beadbox.seeds.seed_to_json`)."""

    def __init__(self, help_text: str = "", **kwargs: Any) -> None:
        super().__init__(help_text=f"{help_text} Text above 2^53.".strip(), **kwargs)

    def to_representation(self, value: Any) -> int | str:
        """Return a number, or text if the seed exceeds 2^53."""
        return seed_to_json(int(value))


class IntervalField(serializers.ListField):
    """The lower and upper bound of an interval."""

    child = serializers.FloatField()
