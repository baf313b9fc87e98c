"""Benchmarks are read in their published form; errors name file, item and cure."""

import json
import shutil
from collections import Counter
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import getitem
from pathlib import Path

import pytest

from keepsake.archive.log import Archive
from keepsake.archive.privacy import is_private
from keepsake.errors import KeepsakeError
from keepsake.lab.benchmarks import grouped, read_trials
from keepsake.lab.conformance import lines
from keepsake.lab.estimates import unmarked
from keepsake.lab.evaluate import Evaluation, evaluate, limit_questions
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
    for one, other in zip(read, published, strict=True):
        alone = [replace(each, about="") for each in one.questions]
        assert alone == list(other.questions)
    # Its people are real: chats that share one depend on each other.
    assert {each.about for trial in read for each in trial.questions} == {
        ", ".join(sorted(trial.people)) for trial in read
    }


def test_chats_that_share_people_are_one_cluster():
    (base, *_) = read_trials(FOLDER / "locomo.json")
    pairs = (("Ann", "Ben"), ("Cid", "Dan"), ("Ben", "Eve"), ("Eve", "Fay"))
    found = grouped([replace(base, people=frozenset(pair)) for pair in pairs])
    clusters = [{each.about for each in trial.questions} for trial in found]
    assert clusters == [{"Ann, Ben, Eve, Fay"}, {"Cid, Dan"}, *[{"Ann, Ben, Eve, Fay"}] * 2]


def test_chats_in_several_files_that_share_people_are_one_cluster(tmp_path):
    base = json.loads((FOLDER / "locomo.json").read_text())[0]
    said = base.pop("conversation")
    first, second = sorted({turn["speaker"] for turn in said["session_1"]})
    for number, pair in enumerate((("Ann", "Ben"), ("Cid", "Dan"), ("Ben", "Eve"))):
        chat = json.dumps(base | said).replace(first, pair[0]).replace(second, pair[1])
        (tmp_path / f"Chat_{number}.json").write_text(chat)
    clusters = [{each.about for each in trial.questions} for trial in read_trials(tmp_path)]
    assert clusters == [{"Ann, Ben, Eve"}, {"Cid, Dan"}, {"Ann, Ben, Eve"}]


def test_evidence_is_read_in_all_spellings_and_named_if_it_is_not_there(tmp_path):
    data = json.loads((FOLDER / "locomo.json").read_text())[0]
    asked = data["qa"][0]
    spellings = ["D 1:2", "D:1:2", "D1;2", "D1:02.", "D1:1-D1:2"]
    data["qa"] = [asked | {"evidence": [each]} for each in spellings]
    data["qa"].append(asked | {"evidence": ["D99:1", "1:2", ""]})
    (tmp_path / "talk.json").write_text(json.dumps(data))
    *read, lost = read_trials(tmp_path)[0].questions
    assert [each.evidence for each in read] == [{2}, {2}, {2}, {2}, {1, 2}]
    assert (lost.evidence, lost.lost) == (frozenset(), ("1:2", "D99:1"))
    rows = evaluate(read_trials(tmp_path), Evaluation(memory="bm25"))
    told = unmarked(rows)
    assert told.startswith("1 of 6 questions name no evidence that the transcript has")
    assert "made-up-1 6 (1:2, D99:1)" in told


def test_beam_is_read_from_folders_of_chats(tmp_path):
    for number in ("2", "10"):
        shutil.copytree(FOLDER / "beam" / "1", tmp_path / number)
    found = read_trials(tmp_path)
    assert [trial.name for trial in found] == ["chat 2", "chat 10"]
    (trial,) = read_trials(FOLDER / "beam" / "1")
    assert [memory.source for memory in trial.memories] == ["user", "assistant"] * 3
    assert trial.memories[0].text.endswith("by the end of May?")  # without the authors' mark
    days = [(each.time.month, each.time.day) for each in trial.memories]
    assert days == [(3, 15)] * 4 + [(4, 5)] * 2
    fact, order, unknown = trial.questions
    assert (fact.kind, fact.asker, fact.evidence) == ("information extraction", "user", {1})
    assert order.evidence == {1, 5}  # as lists by what they state
    assert (unknown.answerable, unknown.evidence) == (False, frozenset())


def test_a_folder_without_files_is_refused(tmp_path):
    with pytest.raises(KeepsakeError, match="no folder with a chat"):
        read_trials(tmp_path)


def test_a_sample_has_every_kind_of_question_and_depends_on_the_seed():
    """Questions that come in a fixed order of kinds: every fourth one is of one kind."""
    trial = read_trials(FOLDER / "locomo.json")[0]
    kinds = ("fact", "time", "list", "rare")
    many = [
        replace(trial.questions[0], id=str(n), kind="rare" if n == 39 else kinds[n % 3])
        for n in range(120)
    ]
    asked = [replace(trial, questions=tuple(many[:60])), replace(trial, questions=tuple(many[60:]))]
    samples = [
        [each for part in limit_questions(asked, 30, seed) for each in part.questions]
        for seed in (1, 1, 2)
    ]
    assert samples[0] == samples[1] != samples[2]
    kept = Counter(each.kind for each in samples[0])
    assert kept == {"fact": 9, "time": 10, "list": 10, "rare": 1}
    assert limit_questions(asked, 0) == limit_questions(asked, 500) == asked


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
