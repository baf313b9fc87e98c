"""``keepsake recall serve`` and ``keepsake eval recall`` as another program meets them."""

import io
import json
import subprocess
import sys

import pytest

from keepsake.cli.recall import RecallServer, as_json, evaluate
from keepsake.errors import ModelUnavailable
from keepsake.lab.conversation import Conversation
from keepsake.models.minilm import MiniLMEmbedder
from keepsake.paths import REPOSITORY
from tests.unit.lab.in_process import keepsake

HYTHE = REPOSITORY / "tests" / "data" / "recall_hythe.json"
LOCOMO = REPOSITORY / "tests" / "data" / "benchmarks" / "locomo.json"
FRIENDS = REPOSITORY / "tests" / "data" / "recall_two_friends.json"
TURNS = [
    ("D1:1", "Ann", "1:56 pm on 8 May, 2023", "I finally adopted a puppy from the shelter!"),
    ("D1:2", "Ben", "1:56 pm on 8 May, 2023", "Wonderful! What do you call her?"),
    ("D1:3", "Ann", "1:56 pm on 8 May, 2023", "Biscuit, after her colour."),
    ("D2:1", "Ben", "7:10 pm on 20 June, 2023", "Work is wearing me out, I need a holiday."),
    ("D2:2", "Ann", "7:10 pm on 20 June, 2023", "We went hiking in the Alps last week. Naïve! ☀"),
]


def turns(rows=TURNS) -> list[dict[str, str]]:
    return [dict(zip(("id", "speaker", "time", "text"), row, strict=True)) for row in rows]


@pytest.fixture(scope="module")
def embedder() -> MiniLMEmbedder:
    return MiniLMEmbedder(threads=2)


@pytest.fixture
def server(embedder) -> RecallServer:
    return RecallServer(embedder)


def ask(server: RecallServer, **request) -> dict:
    return server.answer(json.dumps(request))


def test_a_program_talks_to_the_real_command_and_hears_nothing_but_answers():
    requests = [
        {"op": "ingest", "turns": turns()},
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
    ingested, dog, wrong, mountains = [json.loads(line) for line in done.stdout.splitlines()]
    assert ingested == {"ok": True}
    assert "D1:3" in dog["ids"]
    assert len(dog["ids"]) == 3
    assert "sing" in wrong["error"]
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
    ask(server, op="ingest", turns=turns())
    assert list(server.answer(line)) == ["error"]
    assert ask(server, op="query", text="puppy", k=1) == {"ids": ["D1:1"]}


def test_an_embedder_that_fails_is_an_error_line():
    class Away:
        model_name = "away"

        def embed(self, texts):
            raise ModelUnavailable("No server answers", "Start it")

    server = RecallServer(Away())
    assert ask(server, op="ingest", turns=turns()) == {"error": "No server answers. Start it"}
    assert Conversation(None).query("x", 3) == []


@pytest.mark.parametrize(("data", "kinds", "share"), [(HYTHE, 8, 0.74), (FRIENDS, 6, 0.72)])
def test_the_data_sets_are_found_better_than_by_either_part_alone(embedder, data, kinds, share):
    found = {score.kind: score for score in evaluate(data, embedder)}
    assert found["all"].questions >= 120
    assert len(found) == kinds
    assert found["all"].recall[10] > share, "the best part alone has less than 0.68"
    assert found["all"].recall[5] <= found["all"].recall[10] <= found["all"].recall[20]
    assert as_json(found.values())[-1]["kind"] == "all"


def test_eval_prints_a_table_and_json(copy, tmp_path):
    asked = {"text": "What is Ann's dog called?", "evidence": ["D1:3"], "kind": "paraphrase"}
    data = tmp_path / "data.json"
    data.write_text(json.dumps({"turns": turns(), "questions": [asked]}))
    shown = keepsake(copy.environ, "eval", "recall", str(data))
    assert shown.returncode == 0, shown.stderr
    assert "recall@10" in shown.stdout
    assert "paraphrase" in shown.stdout
    found = json.loads(keepsake(copy.environ, "eval", "recall", str(data), "--json").stdout)
    assert found[-1]["kind"] == "all"
    assert set(found[-1]["recall"]) == {"5", "10", "20"}


def test_turns_can_be_added_and_progress_is_told_to_whoever_asks(server):
    assert ask(server, op="ingest", turns=turns(TURNS[:3])) == {"ok": True}
    out = io.StringIO()
    requests = [
        {"op": "add", "turns": turns(TURNS[3:]), "progress": True},
        {"op": "query", "text": "Who climbed in the mountains?", "k": 1},
        {"op": "add", "turns": turns(TURNS[:1])},
        {"op": "query", "text": "puppy from the shelter", "k": 1},
    ]
    server.serve(map(json.dumps, requests), out)
    answers = [json.loads(line) for line in out.getvalue().splitlines()]
    assert answers[:3] == [{"progress": 2, "of": 2}, {"ok": True}, {"ids": ["D2:2"]}]
    assert "same id" in answers[3]["error"]
    assert answers[4] == {"ids": ["D1:1"]}


def test_a_benchmark_is_evaluated_as_it_is_published(embedder):
    found = {score.kind: score for score in evaluate(LOCOMO, embedder)}
    assert set(found) == {
        "adversarial",
        "all",
        "multi-hop",
        "open-domain",
        "single-hop",
        "temporal",
    }
    assert found["all"].questions == 16
    assert found["all"].recall[20] > 0.9
