"""The slugs of machines without names."""

from __future__ import annotations

import pytest

from learning.models import machine_slug


@pytest.mark.soak
def test_slugs_of_100_000_machines_are_unique() -> None:
    # A large site may have that many, and slugs are not checked. Six characters would give five duplicates.
    assert len({machine_slug() for _ in range(100_000)}) == 100_000
