"""``keepsake eval`` of the data sets in ``tests/data``."""

import json

import pytest

from keepsake.paths import REPOSITORY
from tests.unit.lab.in_process import keepsake

DATA = REPOSITORY / "tests" / "data"


@pytest.mark.parametrize(
    ("data", "kinds", "share"),
    [("recall_hythe.json", 8, 0.74), ("recall_two_friends.json", 6, 0.72)],
)
def test_recall_on_the_data_sets_beats_words_or_vectors_alone(copy, data, kinds, share, tmp_path):
    found = tmp_path / "found.json"
    keepsake(copy.environ, "eval", str(DATA / data), "--json", str(found))
    (cell,) = json.loads(found.read_text())["cells"]
    every = cell["scores"][-1]
    assert (every["kind"], every["questions"] >= 120, len(cell["scores"])) == ("all", True, kinds)
    best = [every[f"recall@{depth}"]["mean"] for depth in (5, 10, 20)]
    assert best[1] > share, "the best part alone has less than 0.68"
    assert best == sorted(best)
