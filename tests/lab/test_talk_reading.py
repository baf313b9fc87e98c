"""Sets of talks: what is read, what is refused and how, and the shipped ones."""

import textwrap
from functools import cache
from pathlib import Path

import pytest

from game.lab.talk.grading import grade, normalised
from game.lab.talk.patterns import compiled
from game.lab.talk.talk_set import (
    AT_ONCE,
    CHECKABLE,
    KINDS,
    SMALL_TALK,
    Compact,
    Together,
    Wait,
    chosen,
    read_talks,
)
from keepsake.errors import ConfigError, KeepsakeError
from keepsake.paths import REPOSITORY
from world.atlas import read_atlas

SHIPPED = REPOSITORY / "tests" / "data" / "talk"
SMALL = """
part: tuning
places:
  yard: {name: The Yard, desc: A yard.}
agents:
  Jory: {place: yard, profile: "You are Jory, a tanner.", ties: {Wenna: your daughter}}
  Mira: {shipped: mira}
speakers: [Sam, Ann]
filler:
  chat: [It rains., It snows.]
talks:
  - scene: one
    agent: Jory
    steps:
      - {arrive: Sam}
      - {speaker: Sam, say: "I am a piper, from Harl."}
      - {speaker: Ann, whisper: I am hiding.}
      - {speaker: Sam, ask: "Who are you?", kind: self, right: jory, sample: Jory.}
      - {compact: 2, filler: chat}
      - {wait: 2 days}
      - together:
          - {speaker: Sam, ask: "Who am I?", kind: at_once, right: [sam, piper], sample: A piper.}
          - {speaker: Ann, ask: "Who am I?", kind: at_once, right: [ann], sample: Ann.}
      - {leave: Sam}
  - scene: two
    agent: Mira
    steps:
      - {speaker: Ann, ask: "Hello!", kind: small_talk}
"""


def read(tmp_path, text=SMALL):
    (tmp_path / "talks.yaml").write_text(textwrap.dedent(text), encoding="utf-8")
    return read_talks(tmp_path / "talks.yaml")


def test_a_set_is_read(tmp_path):
    (talks,) = read(tmp_path)
    one, two = talks.scenes
    assert [question.id for question in talks.questions] == ["one/1", "one/2", "one/3", "two/1"]
    assert one.questions[0].right == ("jory",)
    assert [each.beside for each in one.questions] == [(), ("ann",), ("sam", "piper")]
    assert one.speakers == ("Sam", "Ann")
    assert one.steps[4] == Compact(times=2, filler=("It rains.", "It snows."))
    assert one.steps[5] == Wait(seconds="2 days")
    assert isinstance(one.steps[6], Together)
    assert talks.people["Jory"].whole_profile.endswith("Others you know. Wenna: your daughter.")
    assert two.agent == "Mira"


def test_part_agent_and_limit_choose(tmp_path):
    sets = read(tmp_path)
    assert not chosen(sets, "held-out")
    assert [scene.id for scene in chosen(sets, agent="MIRA")[0].scenes] == ["two"]
    (cut,) = chosen(sets, limit=1)
    assert [question.id for question in cut.questions] == ["one/1"]
    assert len(cut.scenes[0].steps) == 4


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("part: tuning", "part: mine", 2, "'part' is 'mine'"),
        ("place: yard", "place: barn", 6, "'place' is 'barn'"),
        ("agent: Jory", "agent: Jorry", 12, "'agent' is 'Jorry'"),
        ("kind: self", "kind: selfish", 18, "'kind' is 'selfish'"),
        ("right: jory", 'right: "jory("', 18, "no pattern"),
        ("right: jory, ", "", 18, "has no 'right'"),
        ("wait: 2 days", "wait: a while", 20, "'wait' is 'a while'"),
        ("wait: 2 days", "wiat: 2 days", 20, "of no known form"),
        ("compact: 2", "compact: 99", 19, "'compact' is 99"),
        ("filler: chat}", "filler: talk}", 19, "'filler' is 'talk'"),
        ("speaker: Ann, whisper", "speaker: Bob, whisper", 17, "'speaker' is 'Bob'"),
        ("scene: two", "scene: one", 2, "two talks are called 'one'"),
        ("[Sam, Ann]", "[Sam, Ann, Jory]", 2, "two speakers or agents are called 'Jory'"),
        ('speaker: Ann, ask: "Who', 'speaker: Sam, ask: "Who', 21, "two questions are asked by"),
        ("leave: Sam", "leave: Sam, soon: yes", 24, "'soon'"),
        ("leave: Sam", "leave: Sam, leave: Ann", 24, "'leave' stands there twice"),
        ("leave: Sam}", "leave: Sam", 25, "no YAML"),
    ],
)
def test_what_cannot_be_played_is_refused_with_its_line_and_a_cure(tmp_path, old, new, line, said):
    assert old in SMALL
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, SMALL.replace(old, new, 1))
    assert said in refused.value.reason
    assert refused.value.line == line
    assert refused.value.cure


def test_a_folder_without_talks_says_so(tmp_path):
    for path in (tmp_path, tmp_path / "none.yaml"):
        with pytest.raises(KeepsakeError, match="There are no talks"):
            read_talks(path)


# -- the shipped sets


@cache
def shipped():
    return {talks.part: talks for talks in read_talks(SHIPPED)}


def test_both_parts_have_every_kind_and_a_third_is_kept_aside():
    parts = shipped()
    assert set(parts) == {"tuning", "held-out"}
    count = {part: 0 for part in parts}
    for part, talks in parts.items():
        kinds = [question.kind for question in talks.questions]
        assert set(kinds) == set(KINDS), part
        count[part] = sum(kind in CHECKABLE for kind in kinds)
    assert sum(count.values()) >= 150
    assert 0.3 <= count["held-out"] / sum(count.values()) <= 0.4
    asked_at_once = [q for talks in parts.values() for q in talks.questions if q.kind == AT_ONCE]
    assert len(asked_at_once) >= 12


def test_the_parts_share_neither_agents_nor_speakers():
    tuning, held_out = shipped()["tuning"], shipped()["held-out"]
    assert not set(tuning.people) & set(held_out.people)
    assert not set(tuning.speakers) & set(held_out.speakers)
    everybody = [*tuning.people.values(), *held_out.people.values()]
    assert len(everybody) >= 8
    village = [person.shipped for person in everybody if person.shipped]
    assert len(village) <= 3
    assert set(village) <= set(read_atlas().people)


@cache
def more():
    """Sets beside the two parts, for whoever works on the ranking."""
    files = (SHIPPED.parent / "talk_more").glob("*.yaml")
    return {file.stem: talks for file in files for talks in read_talks(file)}


def test_no_other_set_shares_anybody_with_the_part_kept_aside():
    held_out = shipped()["held-out"]
    for talks in more().values():
        assert talks.part == "tuning"
        assert not {*talks.people, *talks.speakers} & {*held_out.people, *held_out.speakers}


@pytest.mark.parametrize("part", ["tuning", "held-out", "brackwater", "merrowick"])
def test_a_sample_answer_is_right_and_the_question_is_not(part):
    talks = {**shipped(), **more()}[part]
    names = [*talks.people, *talks.speakers]
    for question in (each for each in talks.questions if each.kind != SMALL_TALK):
        found = grade(question, question.sample, names=names)
        assert (found.verdict, found.whose_life) == ("right", False), (question.id, found.why)
        if " or " not in question.words:  # "Tea or beer?" holds its answer
            said = normalised(question.words)
            matched = [each for each in question.right if compiled(each).search(said)]
            assert not matched, question.id


def test_every_file_of_talks_is_a_part():
    assert {Path(path).stem for path in SHIPPED.glob("*")} == {"tuning", "held_out"}
