"""Validation of user input in forms, serializers and models."""

from django import forms
from django.core.exceptions import ValidationError
from rest_framework import serializers

from beadbox import field_text
from beadbox.names import name_problem


def name_validate(name: str) -> None:
    """Refuse a name that cannot be shown, such as a name with control characters.

    Raises:
        ValidationError: the reason, in a sentence.
    """
    if problem := name_problem(name):
        raise ValidationError(problem, code="name")


def install_field_messages() -> None:
    """Set the same error messages (``field_text``) for the fields of Django and of REST framework."""
    django_field, limit = forms.Field, "%(limit_value)s"
    django_field.default_error_messages |= {
        "required": field_text.REQUIRED,
        "min_value": field_text.at_least(limit),
        "max_value": field_text.at_most(limit),
        "max_length": field_text.at_most_characters(limit),
    }
    forms.IntegerField.default_error_messages |= {"invalid": field_text.WHOLE_NUMBER}
    forms.FloatField.default_error_messages |= {"invalid": field_text.NUMBER}
    for choice_class in (forms.ChoiceField, forms.MultipleChoiceField):
        choice_class.default_error_messages |= {"invalid_choice": field_text.not_a_choice("%(value)s")}
    forms.FileField.default_error_messages |= {
        "required": field_text.NO_FILE,
        "missing": field_text.NO_FILE,
        "invalid": field_text.NO_FILE,
        "empty": field_text.EMPTY_FILE,
    }
    serializers.Field.default_error_messages |= {"required": field_text.REQUIRED, "null": field_text.REQUIRED}
    serializers.CharField.default_error_messages |= {
        "invalid": field_text.TEXT,
        "blank": field_text.REQUIRED,
        "max_length": field_text.at_most_characters("{max_length}"),
        "min_length": field_text.at_least_characters("{min_length}"),
    }
    serializers.SlugField.default_error_messages |= {"invalid": field_text.SLUG}
    serializers.BooleanField.default_error_messages |= {"invalid": field_text.TRUE_OR_FALSE}
    for number_class, invalid in (
        (serializers.IntegerField, field_text.WHOLE_NUMBER),
        (serializers.FloatField, field_text.NUMBER),
    ):
        number_class.default_error_messages |= {
            "invalid": invalid,
            "min_value": field_text.at_least("{min_value}"),
            "max_value": field_text.at_most("{max_value}"),
            "max_string_length": invalid,
        }
    serializers.ChoiceField.default_error_messages |= {"invalid_choice": field_text.not_a_choice("{input}")}
    for list_class in (serializers.ListField, serializers.ListSerializer):
        list_class.default_error_messages |= {
            "not_a_list": field_text.LIST,
            "empty": field_text.at_least_entries(1),
            "min_length": field_text.at_least_entries("{min_length}"),
            "max_length": field_text.at_most_entries("{max_length}"),
        }
    serializers.DictField.default_error_messages |= {"not_a_dict": field_text.OBJECT}
    serializers.Serializer.default_error_messages |= {"invalid": field_text.OBJECT}
    serializers.FileField.default_error_messages |= {
        "required": field_text.NO_FILE,
        "invalid": field_text.NO_FILE,
        "empty": field_text.EMPTY_FILE,
    }
