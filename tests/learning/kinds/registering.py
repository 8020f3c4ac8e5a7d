"""Registers a kind of machine for the time of a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from beadbox.learners import formats, presets, registry
from learning.kinds.kind import Kind
from learning.kinds.live import LIVE
from learning.kinds.registry import KINDS, kind_register


@contextmanager
def register_temporarily(kind: Kind) -> Iterator[None]:
    """Register a kind of machine for a ``with`` block."""
    kind_register(kind)
    yield
    registered_kinds: Any
    for registered_kinds in (KINDS, registry.RULES, presets.PRESETS_OF_KIND, formats.READERS, LIVE):
        del registered_kinds[kind.rule.kind]
    for slug in kind.page.presets:
        del presets.ALL_PRESETS[slug]
