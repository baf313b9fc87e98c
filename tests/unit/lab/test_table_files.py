"""PersonaMem, GroupMemBench and SocialMemBench are read in their published form, on made files."""

import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from keepsake.errors import KeepsakeError
from keepsake.lab.benchmarks import read_trials
from keepsake.lab.estimates import estimate_kinds
from keepsake.lab.evaluate import Evaluation, evaluate
from tests.unit.lab.test_benchmark_files import FOLDER

CHAT = [
    {"role": "system", "content": "Name: Ada. She keeps bees."},
    {"role": "user", "content": "I gave up coffee, it's tea\nfor me now."},
    {"role": "assistant", "content": "Tea it is."},
    {"role": "user", "content": "And now I hate tea."},
]
ASKED = {
    "persona_id": "0",
    "question_id": "q1",
    "question_type": "track_full_preference_evolution",
    "topic": "food",
    "user_question_or_message": "What shall I drink?",
    "correct_answer": "(b)",
    "all_options": '["(a) Coffee.", "(b) Tea, as you said."]',
    "shared_context_id": "abc",
    "end_index_in_shared_context": "3",
}
MESSAGES = [
    {
        "msg_node": "Msg_2",
        "author": "User_2",
        "content": "By the 18th.",
        "timestamp": "2025-07-19T02:00:00",
    },
    {
        "msg_node": "Msg_1",
        "author": "User_1",
        "content": "When is it due?",
        "timestamp": "2025-07-19T01:00:00",
    },
]
NETWORK = {
    "network_id": "grp_1",
    "session_id": "s1",
    "session_index": 1,
    "session_date": "2026-02-03",
}
SAID = [
    NETWORK
    | {"turn_id": "t2", "message_index": 2, "speaker_display_name": "Ben", "message": "Noon."},
    NETWORK
    | {"turn_id": "t1", "message_index": 1, "speaker_display_name": "Ann", "message": "When?"},
]
QA = {
    "qa_id": "Q4_1",
    "network_id": "grp_1",
    "query_type": "Q4",
    "question": "Who said noon?",
    "answer": "Ben",
    "answer_format": "multiple_choice",
    "correct_option": "B",
    "options_json": '{"A": "Ann", "B": "Ben"}',
    "evidence_anchors_json": '[{"turn_id": "t2"}, {"turn_id": "t9"}]',
}


def write_personamem(folder, asked=ASKED, chats=None):
    with (folder / "questions_32k.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*asked])
        writer.writeheader()
        writer.writerow(asked)
    rows = {"abc": CHAT} if chats is None else chats
    (folder / "shared_contexts_32k.jsonl").write_text(json.dumps(rows) + "\n", encoding="utf-8")


def write_groupmem(folder, messages=MESSAGES, question=None):
    talks = folder / "data" / "final" / "Finance"
    talks.mkdir(parents=True)
    (talks / "channels_Finance.json").write_text(json.dumps({"Treasury": messages}))
    asked = folder / "questions" / "Finance"
    asked.mkdir(parents=True)
    row = {"id": "q1", "question": "Due when?", "answer": "the 18th", "asking_user_id": "User_1"}
    kept = row if question is None else question
    (asked / "knowledge_update.jsonl").write_text(json.dumps(kept) + "\n")
    (asked / "abstention.jsonl").write_text(json.dumps(row | {"answer": "Unknown"}) + "\n")


def write_socialmem(folder, said=SAID, asked=QA):
    pq.write_table(pa.Table.from_pylist(said), folder / "conversations.parquet")
    pq.write_table(pa.Table.from_pylist([asked]), folder / "qa.parquet")


@pytest.mark.parametrize("named", ["", "questions_32k.csv"], ids=["folder", "file"])
def test_personamem_is_asked_after_the_messages_that_the_question_names(tmp_path, named):
    write_personamem(tmp_path)
    (trial,) = read_trials(tmp_path / named)
    assert [each.source for each in trial.memories] == ["system", "user", "assistant"]
    assert "hate tea" not in " ".join(each.text for each in trial.memories)
    (question,) = trial.questions
    assert question.answers == ("Tea, as you said.",)
    assert (question.kind, question.evidence) == ("track full preference evolution", frozenset())
    assert question.about == "0", "chats of one persona depend on each other"


def test_options_of_personamem_may_be_a_list_of_pythons(tmp_path):
    write_personamem(tmp_path, ASKED | {"all_options": "['(a) Coffee.', \"(B) It's tea.\"]"})
    (trial,) = read_trials(tmp_path)
    assert trial.questions[0].answers == ("It's tea.",)


def test_groupmembench_has_all_channels_of_a_domain_in_order_of_time(tmp_path):
    write_groupmem(tmp_path)
    (trial,) = read_trials(tmp_path)
    assert trial.name == "Finance"
    assert [(each.source, each.place) for each in trial.memories] == [
        ("User_1", "Treasury"),
        ("User_2", "Treasury"),
    ]
    found = {each.kind: each for each in trial.questions}
    assert found["knowledge update"].answers == ("the 18th",)
    assert found["knowledge update"].asker == "User_1"
    assert not found["abstention"].answerable


def test_evidence_of_groupmembench_is_read_where_there_is_some(tmp_path):
    row = {"id": "q1", "question": "Due?", "answer": "the 18th", "asking_user_id": "User_1"}
    write_groupmem(tmp_path, question=row | {"evidence_msg_ids": ["Msg_2", "Msg_77"]})
    (trial,) = read_trials(tmp_path)
    found = next(each for each in trial.questions if each.answerable)
    assert (found.evidence, found.lost) == ({2}, ("Msg_77",))


def test_socialmembench_is_read_from_its_tables(tmp_path):
    write_socialmem(tmp_path)
    (trial,) = read_trials(tmp_path)
    assert [each.text for each in trial.memories] == ["When?", "Noon."]
    (question,) = trial.questions
    assert (question.answers, question.evidence, question.lost) == (("Ben",), {2}, ("t9",))
    assert evaluate([trial], Evaluation(memory="bm25"))[0]["recall@10"] == 1.0


def without(row, field):
    return {name: value for name, value in row.items() if name != field}


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (lambda f: write_personamem(f, without(ASKED, "all_options")), "row 1 lacks 'all_options'"),
        (
            lambda f: write_personamem(f, chats={"other": CHAT}),
            "row 1: shared_contexts_32k.jsonl has no chat abc",
        ),
        (lambda f: write_personamem(f, chats={"abc": [{"role": "user"}]}), "message 0 lacks"),
        (
            lambda f: write_personamem(f, ASKED | {"end_index_in_shared_context": "x"}),
            "is no number: x",
        ),
        (
            lambda f: write_personamem(f, ASKED | {"all_options": "nothing"}),
            "all_options is no list",
        ),
        (lambda f: write_groupmem(f, [without(MESSAGES[0], "author")]), "row 1 lacks 'author'"),
        (lambda f: write_groupmem(f, "words"), "row 1 is no object"),
        (lambda f: write_groupmem(f, question={"id": "q1"}), "row 1 lacks 'question'"),
        (lambda f: write_socialmem(f, asked=QA | {"network_id": "grp_2"}), "has no network grp_2"),
        (
            lambda f: write_socialmem(f, [without(each, "turn_id") for each in SAID]),
            "lacks 'turn_id'",
        ),
        (lambda f: write_socialmem(f, asked=QA | {"options_json": "{"}), "options_json is no JSON"),
        (lambda f: (f / "conversations.parquet").write_text("x"), "is missing"),
    ],
    ids=[
        "no options",
        "another chat",
        "no content",
        "no number",
        "no list",
        "no author",
        "no message",
        "no question",
        "another network",
        "no turn",
        "no JSON",
        "no questions",
    ],
)
def test_a_file_in_another_form_is_refused_with_its_place_and_cure(tmp_path, write, told):
    write(tmp_path)
    with pytest.raises(KeepsakeError) as refused:
        read_trials(tmp_path)
    assert told in str(refused.value)
    assert "opy" in str(refused.value)


def test_a_report_has_the_questions_with_an_answer_apart():
    """Questions without an answer have evidence in LoCoMo: the line that they misquote."""
    rows = evaluate(read_trials(FOLDER / "locomo.json"), Evaluation(memory="bm25"))
    found = {each.kind: each.questions for each in estimate_kinds(rows)}
    assert found["all"] == found["with an answer"] + found["adversarial"]
