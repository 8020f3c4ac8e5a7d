"""A kind of machine that is registered for one test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from beadbox.learners import formats, presets, registry
from learning.kinds.kind import Kind
from learning.kinds.registry import KINDS, kind_register


@contextmanager
def registered(kind: Kind) -> Iterator[None]:
    """Register a kind for the time of the block."""
    kind_register(kind)
    yield
    known: Any
    for known in (KINDS, registry.RULES, presets.PRESETS_OF_KIND, formats.READERS):
        del known[kind.rule.kind]
    for slug in kind.page.presets:
        del presets.ALL_PRESETS[slug]
