"""What archives say is kept to be searched: what was appended is read on, what changed anew."""

import json
import os
from datetime import UTC, datetime, timedelta

import pytest

from keepsake.archive.log import SEGMENT_LINES, Archive
from keepsake.archive.records import Memory
from keepsake.happening import ME, Deed, Person, Speech
from keepsake.tracing.texts import SegmentTexts, Texts, key_of, lines_with
from keepsake.tracing.typed.gathering import memories_of
from keepsake.tracing.typed.meant import Meant
from keepsake.tracing.wording import Wording

_TOM = Person("Tom", "7-1")
_BEGAN = datetime(2026, 5, 1, 8, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "archive"


def remember(folder, *words, speaker=_TOM):
    """Append what was said; return its numbers."""
    archive = Archive(folder)
    first = archive.last_number + 1
    for number, each in enumerate(words, start=first):
        what = Speech(speaker=speaker, words=each, shown=f'Tom says, "{each}"')
        time = _BEGAN + timedelta(seconds=number)
        archive.append(Memory(number, time, what, happening=f"h{number}").to_record())
    archive.close()
    return [*range(first, first + len(words))]


def found(texts, folder, typed, happening=""):
    """Return the numbers of the memories that say it, newest first."""
    about = memories_of(texts.of(folder), Meant(Wording.of(typed)), happening)
    return [each.number for each in about]


def test_words_are_found_in_what_was_said(folder):
    remember(folder, "The bell rang.", "Soup at noon.", "Who rang the BELL?")
    assert found(Texts(), folder, "bell") == [3, 1]
    assert found(Texts(), folder, "soup | bell") == [3, 2, 1]
    assert found(Texts(), folder, "Tom") == []  # he said nothing of himself
    assert found(Texts(), folder, "soup", "h3") == [3, 2]


def test_an_appended_line_is_found_without_reading_the_others_again(folder):
    texts = Texts()
    remember(folder, "The bell rang.")
    assert found(texts, folder, "bell") == [1]
    (kept,) = texts.of(folder)
    remember(folder, "The bell is gone.")
    assert found(texts, folder, "bell") == [2, 1]
    assert texts.of(folder) == [kept]


def test_a_line_that_is_being_written_is_read_when_it_has_ended(folder):
    texts = Texts()
    remember(folder, "The bell rang.", "The bell is gone.")
    (segment,) = folder.glob("*.jsonl")
    whole = segment.read_bytes()
    segment.write_bytes(whole[:-20])
    assert found(texts, folder, "bell") == [1]
    with segment.open("ab") as file:
        file.write(whole[-20:])
    assert found(texts, folder, "bell") == [2, 1]


@pytest.mark.parametrize("way", ["replaced", "cut", "longer", "in place"])
def test_a_file_that_changed_is_read_anew(folder, tmp_path, way):
    texts = Texts()
    remember(folder, "The bell rang.", "The bell is gone.")
    assert found(texts, folder, "bell") == [2, 1]
    (segment,) = folder.glob("*.jsonl")
    first, second = segment.read_bytes().splitlines(keepends=True)
    match way:
        case "replaced":
            other = tmp_path / "other"
            other.write_bytes(first.replace(b"bell", b"cups") + second)
            other.replace(segment)
        case "cut":
            segment.write_bytes(second)
        case "longer":
            segment.write_bytes(first.replace(b"bell", b"silver cup") + second + b"{}\n")
        case "in place":
            segment.write_bytes(first.replace(b"bell", b"cups") + second)
            later = segment.stat().st_mtime + 1
            os.utime(segment, (later, later))
    assert found(texts, folder, "bell") == [2]


def test_a_removed_segment_and_a_removed_archive_have_nothing(folder):
    texts = Texts()
    remember(folder, *["The bell rang."] * (SEGMENT_LINES + 1))
    assert len(texts.of(folder)) == 2
    first, second = sorted(folder.glob("*.jsonl"))
    first.unlink()
    assert found(texts, folder, "bell") == [SEGMENT_LINES + 1]
    second.unlink()
    folder.joinpath(".lock").unlink()
    folder.rmdir()
    assert texts.of(folder) == []
    assert texts.size == 0


def test_what_is_kept_has_a_limit(folder, tmp_path):
    remember(folder, *["The bell rang."] * (SEGMENT_LINES + 1))
    whole = Texts()
    assert found(whole, folder, "bell")[::SEGMENT_LINES] == [SEGMENT_LINES + 1, 1]
    small = Texts(most=whole.size - 1)
    assert found(small, folder, "bell") == found(whole, folder, "bell")
    assert 0 < small.size < whole.size
    none = Texts(most=0)
    assert found(none, folder, "bell") == found(whole, folder, "bell")
    assert none.size == 0


def test_archives_of_deleted_agents_are_forgotten(folder, tmp_path):
    texts = Texts()
    other = tmp_path / "other"
    for each in (folder, other):
        remember(each, "The bell rang.")
        texts.of(each)
    both = texts.size
    texts.keep_only([folder])
    assert 0 < texts.size < both
    assert found(texts, other, "bell") == [1]


def test_damaged_lines_and_texts_with_escapes(folder):
    texts = Texts()
    remember(folder, 'She said "soup"\nand a bell rang.', "Ein Glöckchen, MÜLLERIN!")
    (segment,) = folder.glob("*.jsonl")
    with segment.open("ab") as file:
        file.write(b'{"type":"memory","n":x,"text":"a bell"}\n{"type":"memory",\n\xff\n')
        record = Memory(3, _BEGAN, Deed(actor=ME, verb="ring", shown="ring bell")).to_record()
        file.write(json.dumps(record | {"what": "unheard-of"}, separators=(",", ":")).encode())
        file.write(b"\n")
    remember(folder, "No more.")
    assert found(texts, folder, "bell") == [1]
    assert found(texts, folder, "Müller") == [2]
    (kept,) = texts.of(folder)
    assert len(kept.text.split("\n")) == len(kept.numbers)


def test_places_are_found_by_number_and_by_happening(folder):
    remember(folder, "One.", "Two.", "Three.")
    remember(folder, "Four.", speaker=ME)
    (kept,) = Texts().of(folder)
    assert [*kept.numbers] == [1, 2, 3, 4]
    assert [kept.place_of(number) for number in (0, 1, 4, 5)] == [None, 0, 3, None]
    assert [*kept.places_of(key_of("h3"))] == [2]
    assert [*kept.places_of(key_of("h9"))] == []
    assert [kept.is_own(place) for place in range(4)] == [False, False, False, True]
    assert [each.words for each in kept.memories([2, 0])] == ["Three.", "One."]


def test_lines_with_a_needle():
    text = "a bell\nno\n\nbell bell\nbe\nthe bell"
    assert [*lines_with(text, "bell")] == [(0, "a bell"), (3, "bell bell"), (5, "the bell")]
    assert [*lines_with("", "bell")] == []


def test_a_segment_without_memories_has_an_empty_text(tmp_path):
    path = tmp_path / "0000000001.jsonl"
    path.write_bytes(b'{"type":"plan"}\n')
    segment = SegmentTexts(path)
    assert segment.read_on(path.stat())
    assert segment.text == ""
    assert not segment.numbers


def test_people_are_found_by_identity(folder):
    ann = Person('Ann "the [map]"', "8-1")
    archive = Archive(folder)
    said = [
        Speech(speaker=_TOM, words="Hello.", to=(ME,), shown='Tom says, "Hello."'),
        Speech(speaker=ME, words="Hm.", to=(ann, _TOM), shown="say Hm."),
        Speech(speaker=ann, words='"],["Tom","7-1"]', shown="Ann says …"),
        Deed(actor=ann, verb="wave", shown="Ann waves."),
    ]
    for number, what in enumerate(said, start=1):
        about = "7-1" if number == len(said) else ""
        archive.append(Memory(number, _BEGAN, what, about=about).to_record())
    archive.close()
    (kept,) = Texts().of(folder)
    assert [*kept.places_with(key_of("7-1"))] == [0, 1, 3]
    assert [*kept.places_with(key_of("8-1"))] == [1, 2, 3]
    assert [*kept.places_with(key_of("9-1"))] == []
    assert all(map(kept.has_happened, range(4)))
