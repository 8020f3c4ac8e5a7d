"""Serializers of experiments and their runs."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from beadbox.experiments.registry import EXPERIMENTS
from games.live.serializers import StrictSerializer
from learning.models import JobStatus
from learning.serializers.base import AnsweredSeedField, SeedField, SlugChoiceField

EXPERIMENT_SLUGS = list(EXPERIMENTS)
"""Slugs of all experiments; the settings refer to the list, so that the schema has one name for the choice."""


class ParameterSerializer(serializers.Serializer[Any]):
    """A whole-number parameter of an experiment, with its range."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of this name hides a serializer's own label
    default = serializers.IntegerField()
    low = serializers.IntegerField()
    high = serializers.IntegerField()


class ExperimentSerializer(serializers.Serializer[Any]):
    """An experiment: ``selectors.experiments.experiment_view``."""

    slug = serializers.ChoiceField(choices=EXPERIMENT_SLUGS)
    name = serializers.CharField()
    question = serializers.CharField()
    game = serializers.CharField()
    presets = serializers.ListField(child=serializers.CharField())
    edition = serializers.IntegerField(
        help_text="Raised whenever a change of the program changes the result of a seed."
    )
    seed = AnsweredSeedField(help_text="The default seed.")
    parameters = ParameterSerializer(many=True)


class ExperimentRunStartSerializer(StrictSerializer):
    """The experiment to run, with its seed and parameters."""

    experiment = SlugChoiceField(choices=EXPERIMENT_SLUGS)
    seed = SeedField()
    parameters = serializers.DictField(
        child=serializers.IntegerField(),
        required=False,
        help_text="Values by name; omitted parameters have their default.",
    )


class ExperimentRunSerializer(serializers.Serializer[Any]):
    """A run in a list: ``selectors.experiments.experiment_run_brief``."""

    id = serializers.IntegerField()
    experiment = serializers.CharField()
    edition = serializers.IntegerField()
    parameters = serializers.DictField(child=serializers.IntegerField())
    seed = AnsweredSeedField()
    status = serializers.ChoiceField(choices=JobStatus.choices)
    progress = serializers.FloatField(help_text="0 to 1.")
    error = serializers.CharField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class ExperimentRunDetailSerializer(ExperimentRunSerializer):
    """A run with its result: ``selectors.experiments.experiment_run_view``."""

    result = serializers.DictField(
        allow_null=True,
        help_text="Figures, charts, tables and findings as docs/experiments.md explains them; null until finished.",
    )
