"""A journal is a markdown file a day, which people may read and edit."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from keepsake.books.journal.book import Journal
from keepsake.books.journal.config import JournalConfig
from keepsake.books.journal.entries import EntryOrigin, Importance, Judge, local_day
from keepsake.errors import NoteRefused
from tests.mind.journals import NOON, days_ago, write

CUP = 'Tom told me: "I will bring the blue cup back."'


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture
def journal(tmp_path: Path, log: list[str]) -> Journal:
    return Journal(tmp_path / "journal", log.append)


def file_of(journal: Journal, days: int = 0) -> Path:
    return journal.folder / f"{local_day(NOON - timedelta(days=days)).isoformat()}.md"


def again(journal: Journal) -> Journal:
    """The same journal, opened anew."""
    return Journal(journal.folder)


# -- writing and reading


def test_what_is_written_can_be_read_again(journal: Journal):
    entry = journal.write(
        CUP,
        importance=Importance(8, reasons=("a promise", "said to me")),
        origin=EntryOrigin.TOLD,
        memories=(121, 120),
        who=("5-20261101120000",),
        now=NOON,
    )
    assert entry.id == f"{local_day(NOON):%Y%m%d}-1"
    assert (entry.text, entry.time, entry.memories) == (CUP, NOON, (120, 121))
    assert journal.entries() == again(journal).entries() == (entry,)
    assert journal.problems == ()


def test_only_the_newest_days_are_read(tmp_path: Path):
    journal = Journal(tmp_path, config=lambda: JournalConfig(days=2))
    write(journal, "Long ago.", now=days_ago(9), memories=(1,))
    write(journal, "A while ago.", now=days_ago(3))
    write(journal, "Today.")
    assert [entry.text for entry in journal.entries()] == ["A while ago.", "Today."]
    assert journal.resting_on(1) is None
    assert file_of(journal, 9).exists()


@pytest.mark.parametrize("text", ["", "  \n ", "#", "---", "...", "\u200b\u202e", "[]<>**"])
def test_an_entry_without_words_is_refused(journal: Journal, text: str):
    with pytest.raises(NoteRefused, match="no words"):
        write(journal, text)
    assert not journal.folder.exists()


# -- doubles


def test_the_same_text_about_the_same_people_is_written_once_a_day(journal: Journal):
    first = write(journal, CUP, 6, memories=(120,), who=("t",))
    assert write(journal, CUP, 8, memories=(131,), who=("t",)) == first
    assert journal.entries() == again(journal).entries() == (first,)
    assert write(journal, CUP, 6, who=("t",), now=days_ago(1)) != first


# -- finding by memory


def test_the_weightiest_entry_that_rests_on_a_memory_is_found(journal: Journal):
    write(journal, "Tom promised a cup.", 4, memories=(7, 8))
    heavy = write(journal, "The cup is hidden under the stair.", 9, memories=(8,))
    assert journal.resting_on(8) == heavy
    assert journal.resting_on(9) is None


# -- limits of a day


def test_a_full_day_takes_no_more(tmp_path: Path):
    journal = Journal(tmp_path, config=lambda: JournalConfig(entries=2))
    for number in (1, 2):
        assert write(journal, f"Thing number {number} happened.")
    before = file_of(journal).read_bytes()
    assert write(journal, "A great thing happened.", 10) is None
    assert file_of(journal).read_bytes() == before
    assert write(journal, "A new day.", now=days_ago(-1)) is not None


# -- people at the files


def test_a_persons_changes_are_seen(journal: Journal):
    entry = write(journal, CUP, 6)
    path = file_of(journal)
    path.write_text(path.read_text().replace("blue", "red").replace("6, by rules", "9"))
    (changed,) = journal.entries()
    assert changed.text == CUP.replace("blue", "red")
    assert changed.importance == Importance(9, Judge.AGENT)
    assert changed.id == entry.id
    path.unlink()
    assert journal.entries() == ()


PERSONS = """\
---
tags: [diary]
last: 2
mood: fine
---
# My own title

Some words of mine. ## no heading

## Thoughts

* of a person

## {day}-1, 12:00

Tom gave me
a cup.

- **importance**: 6, by rules (a gift)
- **mood**: merry

> and a quotation

### A heading below

```
## no heading
- **importance**: 3
```

## {day}-2

Broken.

- **importance**: very

# The end
"""


def test_what_a_person_wrote_stays_word_for_word(journal: Journal, log: list[str]):
    path, day = file_of(journal), f"{local_day(NOON):%Y%m%d}"
    source = PERSONS.format(day=day)
    path.parent.mkdir()
    path.write_text(source)
    write(journal, "Rain fell.", 3)
    (entry, rain) = journal.entries()
    assert (entry.text, entry.importance.score) == ("Tom gave me a cup.", 6)
    assert rain.id == f"{day}-3"
    text = path.read_text()
    assert text.startswith(source.replace("last: 2", "last: 3")), "to the letter"
    assert len([line for line in log if "very" in line]) == 2  # once for each state of the file
    broken = int(journal.problems[0].split("line ")[1].split(":")[0])
    assert text.splitlines()[broken - 1] == f"## {day}-2"


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("- **importance**: 11", "importance '11'"),
        ("- **importance**: 0", "importance '0'"),
        ("- **source**: a bird", "source 'a bird' is none of told to me, seen"),
    ],
)
def test_a_broken_entry_is_named_and_left_alone(
    journal: Journal, log: list[str], broken: str, why: str
):
    good, bad = write(journal, "Good.", 6), write(journal, "Bad.", 5)
    path = file_of(journal)
    key = broken.split(":", maxsplit=1)[0]
    lines = path.read_text().split("\n")
    index = max(i for i, line in enumerate(lines) if line.startswith(key))
    lines[index] = broken
    path.write_text("\n".join(lines))
    assert journal.entries() == (good,)
    assert why in journal.problems[0]
    assert why in log[-1]
    assert bad.id in log[-1]
    write(journal, "Third.")
    assert broken in path.read_text()
    path.write_text(
        path.read_text().replace(broken, f"{key}: " + ("5" if "imp" in key else "seen"))
    )
    assert bad.id in [entry.id for entry in journal.entries()]
    assert journal.problems == ()


@pytest.mark.parametrize("content", [b"\xff\xfe\x00broken", b"x" * 5_000_000], ids=["utf", "long"])
def test_a_file_that_cannot_be_read_is_never_overwritten(
    journal: Journal, log: list[str], content: bytes
):
    write(journal, "Yesterday.", now=days_ago(1))
    path = file_of(journal)
    path.write_bytes(content)
    with pytest.raises(NoteRefused):
        write(journal, "Today.")
    assert path.read_bytes() == content
    assert [entry.text for entry in journal.entries()] == ["Yesterday."]
    assert len(journal.problems) == 1
    assert path.name in log[0]
    journal.entries()
    assert len(log) == 1
    path.unlink()
    assert write(journal, "Today.")


# -- crashes and threads


def test_a_full_disk_changes_nothing(journal: Journal, monkeypatch: pytest.MonkeyPatch):
    entry = write(journal, "One.")

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(NoteRefused, match="No space left"):
        write(journal, "Two.")
    monkeypatch.undo()
    assert again(journal).entries() == (entry,)
    assert [path.name for path in journal.folder.iterdir()] == [file_of(journal).name]


# -- its settings


def test_a_person_can_add_an_entry_with_a_heading_and_a_text(journal: Journal):
    write(journal, CUP)
    path = file_of(journal)
    day = f"{local_day(NOON):%Y%m%d}"
    with path.open("a") as file:
        file.write(f"\n## {day}-900, 8:15\n\nAda owes me\ntwo pears.\n\n- **memories**: 4-6, 9\n")
    added = journal.entries()[1]
    assert added.text == "Ada owes me two pears."
    assert added.memories == (4, 5, 6, 9)
    assert added.importance.judge is Judge.AGENT
    assert f"{added.time.astimezone():%H:%M}" == "08:15"
    assert write(journal, "Rain.").id == f"{day}-901"
