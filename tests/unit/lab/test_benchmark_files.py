"""Benchmarks are read in their published form; errors name file, item and cure."""

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import getitem
from pathlib import Path

import pytest

from keepsake.archive.log import Archive
from keepsake.archive.privacy import is_private
from keepsake.errors import KeepsakeError
from keepsake.lab.benchmarks import read_trials
from keepsake.lab.conformance import lines
from keepsake.paths import REPOSITORY
from tests.memories import old_memory
from tests.sentences import table

FOLDER = REPOSITORY / "tests" / "data" / "benchmarks"


def test_conversations_of_locomo_are_read_in_the_published_form():
    first, second = read_trials(FOLDER / "locomo.json")
    assert (first.name, second.name) == ("made-up-1", "made-up-2")
    assert first.memories[0].time == datetime(2023, 3, 3, 10, 15, tzinfo=UTC)
    assert first.memories[8].time == datetime(2023, 4, 21, 19, 40, tzinfo=UTC)
    assert first.memories[6].text.endswith("[shares a photo of a crooked blue bowl]")
    assert all(q.time == first.memories[-1].time for q in first.questions)


def test_questions_of_locomo_have_their_kinds_answers_and_evidence():
    first, _ = read_trials(FOLDER / "locomo.json")
    asked = {q.text: q for q in first.questions}
    earned = asked["How much did Nadia earn with her bowls at the market?"]
    assert (earned.kind, earned.answers, earned.evidence) == ("multi-hop", ("120",), {12, 14})
    # Two ids in one text, and an id with a superfluous zero, as in the published data.
    assert asked["Which two jobs has Oskar had?"].evidence == {4, 5}
    assert asked["When did Oskar begin at the ferry office?"].evidence == {4}
    assert asked["Would Oskar be a good companion for a long run?"].answers == ("Likely no",)
    trick = asked["What did Oskar sell at the market in Varde?"]
    assert (trick.kind, trick.answerable, trick.answers) == ("adversarial", False, ())


def test_realtalk_is_read_from_a_folder_of_conversations(tmp_path):
    for number, talk in enumerate(json.loads((FOLDER / "locomo.json").read_text())):
        said = json.dumps(talk.pop("conversation")).replace('"text":', '"clean_text":')
        (tmp_path / f"Chat_{number}.json").write_text(json.dumps(talk | json.loads(said)))
    read = read_trials(tmp_path)
    published = read_trials(FOLDER / "locomo.json")
    assert [each.questions for each in read] == [each.questions for each in published]


def test_an_agent_gets_only_the_turns_that_it_hears(tmp_path):
    data = table("a transcript that Mira hears in part")
    (tmp_path / "life.json").write_text(json.dumps(data))
    (trial,) = read_trials(tmp_path)
    own = [memory.text for memory in trial.memories if is_private(memory)]
    assert (len(trial.memories), own) == (3, ["It is stolen.", "whisper Ann = From whom?"])
    known, unknown = trial.questions
    assert (known.audience, known.kept_from, known.stale) == ({"Ann"}, {"Ben"}, ("bought",))
    assert known.time - trial.memories[1].time == known.delay == timedelta(hours=2)
    assert (unknown.answerable, unknown.evidence) == (False, frozenset())


def test_an_archive_of_the_vault_is_read_as_a_transcript(tmp_path, monkeypatch):
    monkeypatch.setenv("KEEPSAKE_VAULT", str(tmp_path))
    with closing(Archive(tmp_path / "agents" / "Mira" / "archive")) as archive:
        for memory in lines(9):
            archive.append(
                old_memory(
                    memory.number,
                    memory.time,
                    memory.kind,
                    'Ada says to you, "Which day?"',
                    memory.place,
                    memory.source,
                    source_id=memory.source_id,
                ).to_record()
            )
    (trial,) = read_trials(Path("vault:Mira"))
    assert (trial.agent, len(trial.memories), len(trial.questions)) == ("Mira", 9, 3)
    marked = {"life": "vault:Mira", "questions": [{"text": "Which day?", "evidence": [4]}]}
    (tmp_path / "marked.json").write_text(json.dumps(marked))
    assert read_trials(tmp_path)[0].questions[0].evidence == {4}
    with pytest.raises(KeepsakeError, match="nobody has no archive"):
        read_trials(Path("vault:nobody"))


@pytest.mark.parametrize(("name", "lost", "message"), table("files without a part"))
def test_errors_in_a_file_name_their_place_and_a_cure(name, lost, message, tmp_path):
    data = json.loads((FOLDER / name).read_text())
    path = tmp_path / "spoilt.json"
    *within, last = lost
    reduce(getitem, within, data).pop(last)
    path.write_text(json.dumps(data))
    with pytest.raises(KeepsakeError, match=message) as found:
        read_trials(path)
    assert "spoilt.json" in str(found.value)
    assert found.value.cure
