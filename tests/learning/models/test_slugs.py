"""The slugs of machines without names."""

from __future__ import annotations

import pytest

from learning.models import machine_slug


@pytest.mark.soak
def test_a_hundred_thousand_machines_have_slugs_of_their_own() -> None:
    # A large site may have that many, and slugs are not checked. Six characters would give five duplicates.
    assert len({machine_slug() for _ in range(100_000)}) == 100_000
