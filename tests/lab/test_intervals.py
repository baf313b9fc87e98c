"""Wilson intervals and percentiles of the lab."""

import pytest

from keepsake.lab.intervals import percentile, wilson


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    # Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20, 29 of 29.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (29, 29, 0.8830, 1)],
)
def test_wilsons_interval(right, n, low, high):
    assert wilson(right, n) == pytest.approx((low, high), abs=5e-5)


def test_percentiles_are_values_that_occur():
    assert wilson(0, 0) == (0.0, 1.0)
    assert percentile([], 0.5) == 0.0
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile(range(1, 101), 0.95) == 95
    assert percentile([4], 0.95) == 4
