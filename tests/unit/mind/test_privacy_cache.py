"""Which memories are private is kept in a file, and is never guessed."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from keepsake.archive import log as archive_module
from keepsake.archive import privacy_cache
from keepsake.archive.log import Archive
from keepsake.archive.privacy import NO_PRIVATE_WORDS, PrivateWords, is_redacted
from keepsake.archive.privacy_cache import PrivacyCache
from keepsake.happening import ME, Manner, Person, Sight, Speech
from tests.unit.mind.fake_agent import add

TOM = Person("Tom", "5-1")
ADA = Person("Ada", "6-1")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Keep segments of ten lines, and write the file after each reading."""
    monkeypatch.setattr(archive_module, "SEGMENT_LINES", 10)
    monkeypatch.setattr(privacy_cache, "_SAVE_AFTER_BYTES", 1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "index" / "Mira" / "private.json"


def whisper(memory, who=TOM, words="The key is below the stone."):
    speech = Speech(
        speaker=who,
        words=words,
        to=(ME,),
        manner=Manner.WHISPER,
        shown=f'{who.name} whispers to you, "{words}"',
    )
    return memory.append(speech).number


def sent_alone(memory, *witnesses):
    what = Sight(shown="You see a mark on the wall.")
    return memory.append(what, witnesses=tuple(each.id for each in witnesses)).number


def fill(memory):
    """Append 30 memories, three of them private; return with whom each is shared."""
    found = {}
    for _ in range(3):
        add(memory, 9)
        found[whisper(memory)] = frozenset({TOM.id})
    found[sent_alone(memory, TOM, ADA)] = frozenset({TOM.id, ADA.id})
    return found


def lines_read(archive, path, monkeypatch):
    """Return what the cache says, and how many lines of the archive it had to read."""
    count = 0
    real = Archive.lines_after

    def counted(self, *position):
        nonlocal count
        for line in real(self, *position):
            count += 1
            yield line

    monkeypatch.setattr(Archive, "lines_after", counted)
    found = dict(PrivacyCache(archive, path).read())
    monkeypatch.setattr(Archive, "lines_after", real)
    return found, count


def test_a_start_reads_only_what_is_new(memory, path, monkeypatch):
    expected = fill(memory)
    assert lines_read(memory.archive, path, monkeypatch) == (expected, 31)
    assert lines_read(memory.archive, path, monkeypatch) == (expected, 0)
    add(memory, 3)
    expected[whisper(memory, ADA)] = frozenset({ADA.id})
    assert lines_read(memory.archive, path, monkeypatch) == (expected, 4)
    assert path.stat().st_mode & 0o077 == 0, "it names who whispered"


def test_it_says_the_same_as_the_whole_archive(memory, path):
    fill(memory)
    read = PrivateWords()
    for _ in range(2):
        read.learn(PrivacyCache(memory.archive, path).read())
        whole = PrivateWords.of(memory.archive)
        for number in range(1, memory.archive.last_number + 2):
            assert read.confidants(number) == whole.confidants(number)


@pytest.mark.parametrize(
    "text",
    ['"what":"sight"', '"manner":"whisper"', '\\"whisper\\"', '"witnesses":["5-1"]', '"what":'],
)
def test_no_text_looks_like_a_field(memory, path, text):
    """A player says words that look like a line of an archive."""
    said = Speech(speaker=TOM, words=text, shown=f"Tom says, {text}")
    memory.append(said)
    secret = whisper(memory, words=text)
    assert PrivacyCache(memory.archive, path).read() == {secret: frozenset({TOM.id})}


def damage(path, how):
    record = json.loads(path.read_text())
    match how:
        case "not JSON":
            path.write_text("{")
        case "a list":
            path.write_text("[]")
        case "another version":
            path.write_text(json.dumps({**record, "version": 99}))
        case "no numbers":
            path.write_text(json.dumps({**record, "shared": {"x": []}}))
        case "torn":
            path.write_text(path.read_text()[:-20])
        case "not its end":
            path.write_text(json.dumps({**record, "offset": record["offset"] - 1}))
        case "beyond its end":
            path.write_text(json.dumps({**record, "offset": 10**9}))
        case "no such segment":
            path.write_text(json.dumps({**record, "segment": "9999999999.jsonl"}))


@pytest.mark.parametrize(
    "how",
    [
        "not JSON",
        "a list",
        "another version",
        "no numbers",
        "torn",
        "not its end",
        "beyond its end",
        "no such segment",
    ],
)
def test_a_damaged_file_is_made_anew(memory, path, monkeypatch, how):
    expected = fill(memory)
    PrivacyCache(memory.archive, path).read()
    damage(path, how)
    assert lines_read(memory.archive, path, monkeypatch) == (expected, 31)
    assert lines_read(memory.archive, path, monkeypatch) == (expected, 0)


def test_the_file_of_another_archive_is_not_believed(agent, tmp_path, path, monkeypatch):
    """Another vault, or a backup, has an agent of the same name."""
    memory = agent.open()
    fill(memory)
    PrivacyCache(memory.archive, path).read()
    memory.close()
    other = replace(agent, folder=tmp_path / "other" / "Mira").open()
    add(other, 2)
    expected = {whisper(other, ADA): frozenset({ADA.id})} | fill(other)
    found, read = lines_read(other.archive, path, monkeypatch)
    assert (found, read) == (expected, other.archive.last_number)
    other.close()


def test_a_rewritten_segment_is_read_again(memory, path, monkeypatch):
    expected = fill(memory)
    PrivacyCache(memory.archive, path).read()
    first = memory.archive.segments()[0]
    first.write_bytes(first.read_bytes().replace(b"Thing 2 happened.", b"(forgotten), all."))
    os.utime(first, ns=(1, 1))
    assert lines_read(memory.archive, path, monkeypatch) == (expected, 31)


# -- while they are not known


def test_until_they_are_known_all_earlier_memories_are_private(memory, path):
    expected = fill(memory)
    private = PrivateWords(unread=memory.archive.last_number)
    everybody = frozenset({TOM.id})
    numbers = range(1, memory.archive.last_number + 1)
    for audience in (NO_PRIVATE_WORDS, everybody, frozenset({TOM.id, ADA.id})):
        assert not any(private.may_hear([number], audience) for number in numbers)
    assert private.may_hear([0], NO_PRIVATE_WORDS), "a line that rests on no memory"
    assert private.shares_with(everybody)
    add(memory, 1)
    new = memory.archive.last_number
    assert private.may_hear([new], NO_PRIVATE_WORDS), "a new memory is known when it is archived"
    private.learn(PrivacyCache(memory.archive, path).read())
    assert [n for n in numbers if not private.may_hear([n], NO_PRIVATE_WORDS)] == list(expected)
    assert private.may_hear([10], everybody)


def test_a_whisper_that_comes_meanwhile_stays_private(memory, path):
    private = PrivateWords(unread=memory.archive.last_number)
    number = whisper(memory)
    (added,) = memory.context().window
    private.add(added)
    private.learn({})
    assert not private.may_hear([number], frozenset({ADA.id}))
    assert private.may_hear([number], frozenset({TOM.id}))


def test_the_window_is_shown_meanwhile_without_whispers(memory):
    add(memory, 2)
    whisper(memory)
    private = PrivateWords(unread=memory.archive.last_number)
    shown = private.heard_by(memory.context().shown, frozenset({ADA.id}))
    assert [each.text for each in shown[:2]] == ["Thing 1 happened.", "Thing 2 happened."]
    assert is_redacted(shown[2])
    (_, _, whole) = private.heard_by(memory.context().shown, frozenset({TOM.id}))
    assert "stone" in whole.text


def test_one_of_several_who_know_it_shares_it(memory):
    sent_alone(memory, TOM, ADA)
    private = PrivateWords.of(memory.archive)
    assert private.shares_with(frozenset({TOM.id}))
    assert not private.shares_with(frozenset({"7-1"}))
    assert not private.shares_with(NO_PRIVATE_WORDS)
