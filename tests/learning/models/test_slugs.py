"""The addresses of machines that nobody named."""

from __future__ import annotations

import pytest

from learning.models import machine_slug


@pytest.mark.soak
def test_a_hundred_thousand_machines_have_slugs_of_their_own() -> None:
    # As a site may have, and nobody looks whether a slug is taken. With a room's six characters five would be.
    assert len({machine_slug() for _ in range(100_000)}) == 100_000
