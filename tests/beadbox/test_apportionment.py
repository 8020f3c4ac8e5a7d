"""Percentages add up to 100; pages and scripts round them alike (``tests/js/words.test.js``)."""

import json
from pathlib import Path

import pytest

from beadbox.apportionment import apportion
from beadbox.kernels.random_source import RandomSource

CASES = json.loads((Path(__file__).parents[1] / "data" / "shares.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["parts"]))
def test_remaining_units_go_to_the_largest_remainders(case):
    assert apportion(case["parts"], case["units"]) == case["shares"]


def test_shares_add_up_and_differ_by_less_than_a_unit():
    rng = RandomSource(7)
    for _ in range(2_000):
        parts = [rng.below(1_000) for _ in range(1 + rng.below(9))]
        shares, total = apportion(parts), sum(parts)
        assert sum(shares) == (100 if total else 0)
        assert all(abs(share - 100 * part / total) < 1 for share, part in zip(shares, parts, strict=True) if total)
