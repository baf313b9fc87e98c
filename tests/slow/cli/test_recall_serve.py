"""``keepsake recall serve`` and ``keepsake eval`` as another program meets them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from keepsake.cli.memories import RecallServer
from keepsake.models.embedders import MiniLMEmbedder
from keepsake.paths import REPOSITORY
from tests.sentences import table
from tests.unit.lab.in_process import keepsake

DATA = REPOSITORY / "tests" / "data"
TURNS = table("turns of two friends")


def turns(rows=TURNS) -> list[dict[str, str]]:
    return [dict(zip(("id", "speaker", "time", "text"), row, strict=True)) for row in rows]


@pytest.fixture(scope="module")
def server() -> Iterator[RecallServer]:
    with closing(RecallServer(MiniLMEmbedder(threads=2))) as made:
        yield made


def test_a_program_talks_to_the_real_command_and_hears_nothing_but_answers():
    requests = [
        {"op": "ingest", "turns": turns(TURNS[:3])},
        {"op": "add", "turns": turns(TURNS[3:])},
        {"op": "query", "text": "What is the name of Ann's dog?", "k": 3},
        {"op": "sing"},
        {"op": "query", "text": "Who climbed in the mountains?"},
    ]
    done = subprocess.run(
        [sys.executable, "-m", "keepsake", "recall", "serve"],
        cwd=REPOSITORY,
        input="".join(json.dumps(r, ensure_ascii=False) + "\n" for r in requests),
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=True,
    )
    ingested, added, dog, wrong, mountains = map(json.loads, done.stdout.splitlines())
    assert ingested == added == {"ok": True}
    assert "D1:3" in dog["ids"]
    assert len(dog["ids"]) == 3
    assert "'ingest', 'add' or 'query'" in wrong["error"]
    assert mountains["ids"][0] == "D2:2"
    assert set(mountains["ids"]) <= {row[0] for row in TURNS}


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        '{"op": "query", "text": "x", "k": 0}',
        '{"op": "ingest", "turns": [{"id": 1, "text": "x"}]}',
        '{"op": "ingest", "turns": [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]}',
        "[" * 100_000,
    ],
)
def test_what_cannot_be_read_is_an_error_and_changes_nothing(server, line):
    server.answer(json.dumps({"op": "ingest", "turns": turns()}))
    assert list(server.answer(line)) == ["error"]
    assert server.answer('{"op": "query", "text": "puppy", "k": 1}') == {"ids": ["D1:1"]}


@pytest.mark.parametrize(
    ("data", "kinds", "share"),
    [("recall_hythe.json", 8, 0.74), ("recall_two_friends.json", 6, 0.72)],
)
def test_the_data_sets_are_found_better_than_by_either_part_alone(
    copy, data, kinds, share, tmp_path
):
    found = tmp_path / "found.json"
    keepsake(copy.environ, "eval", str(DATA / data), "--json", str(found))
    (cell,) = json.loads(found.read_text())["cells"]
    every = cell["scores"][-1]
    assert (every["kind"], every["questions"] >= 120, len(cell["scores"])) == ("all", True, kinds)
    best = [every[f"recall@{depth}"]["mean"] for depth in (5, 10, 20)]
    assert best[1] > share, "the best part alone has less than 0.68"
    assert best == sorted(best)
