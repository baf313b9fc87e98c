"""The files of the book of people: edited by hand, killed while they are written, two at once."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from keepsake.books.profiles.book import PeopleBook
from keepsake.books.profiles.config import PeopleConfig
from keepsake.books.profiles.profile import Profile, ProfileKind
from keepsake.errors import NoteRefused
from tests.mind.acquaintances import (
    ADA,
    RUAN,
    TOM,
    Days,
    book_of,
    eventful,
    files,
    holding,
    six,
    taken,
    there,
)


def holding_all(profile: Profile) -> list[str]:
    return [fact.value for fact in profile.facts if fact.holds]


# -- edited by hand


def edited(folder: Path, change: Any, name: str = f"people/Tom-{TOM}.md") -> Path:
    path = folder / name
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    return path


def with_tom(tmp_path: Path) -> tuple[PeopleBook, Days]:
    days = Days()
    days.says("Tom", TOM, "I work as a baker.")
    return taken(tmp_path, days), days


def test_what_a_person_writes_stays(tmp_path):
    book, days = with_tom(tmp_path)
    edited(
        tmp_path,
        lambda text: (
            text.replace("- work: baker", "- work: master baker").replace(
                "## Facts\n", "Seen by the well.\n\n## Facts\n\nAsk him!\n- likes: walnuts\n"
            )
            + "\n## My own\n\n- to do: everything\n\n    four blanks\n\n"
            + "## What I think\n\n- Is kind.\n"
        ),
    )
    days.says("Tom", TOM, "I live in the tower.")
    book.take(days.memories, "Mira", six)
    text = files(tmp_path)[f"people/Tom-{TOM}.md"]
    assert "Seen by the well." in text
    assert "Ask him!" in text
    assert "## My own\n\n- to do: everything\n\n    four blanks\n" in text
    tom = there(book, TOM)
    assert holding(tom) == {"work": "master baker", "likes": "walnuts", "home": "the tower"}
    assert [each.text for each in tom.conclusions] == ["Is kind."]


def test_a_file_that_cannot_be_read_is_left_alone_and_caught_up_with_later(tmp_path):
    told: list[str] = []
    book, days = with_tom(tmp_path)
    book = PeopleBook(tmp_path, PeopleConfig, told.append)
    book.open()
    path = edited(tmp_path, lambda text: text.replace("kind: person", "kind: [person"))
    broken = path.read_text(encoding="utf-8")
    days.says("Tom", TOM, "I live in the tower.")
    days.says("Ada", ADA, "I work as a clerk.")
    book.take(days.memories, "Mira", six)
    days.says("Tom", TOM, "I like pears.")
    book.take(days.memories[-1:], "Mira", six)
    assert path.read_text(encoding="utf-8") == broken
    assert len(told) == 1
    assert str(path) in told[0]
    assert book.problems == told
    assert holding(there(book, ADA)) == {"work": "clerk"}
    assert book.through == 4

    path.write_text(broken.replace("kind: [person", "kind: person"), encoding="utf-8")
    for each in (book, book_of(tmp_path)):
        assert each.through == 1
        assert each.problems == []
    days.says("Tom", TOM, "I hate rain.")
    book.take(days.memories[-1:], "Mira", six)  # this alone would leave a gap
    assert book.through == 1
    book.take([m for m in days.memories if m.number > book.through], "Mira", six)
    assert book.through == 5
    assert holding(there(book, TOM)) == {
        **{"work": "baker", "home": "the tower"},
        **{"said": "I hate rain"},
    }
    assert holding(there(book, ADA)) == {"work": "clerk"}


def test_a_broken_file_is_no_reason_for_a_second_one_after_a_restart(tmp_path):
    _, days = with_tom(tmp_path)
    edited(tmp_path, lambda text: text.replace("---", "", 1))
    days.says("Tom", TOM, "I live in the tower.")
    taken(tmp_path, days)
    assert [path.name for path in (tmp_path / "people").glob("*.md")] == [f"Tom-{TOM}.md"]


def test_a_file_that_a_person_renamed_is_found_and_keeps_its_name(tmp_path):
    book, days = with_tom(tmp_path)
    path = tmp_path / "people" / f"Tom-{TOM}.md"
    path.rename(path.with_name("the baker.md"))
    days.says("Thomas", TOM, "I live in the tower.")
    book.take(days.memories, "Mira", six)
    assert [path.name for path in (tmp_path / "people").glob("*.md")] == ["the baker.md"]
    assert holding(there(book, TOM)) == {"work": "baker", "home": "the tower"}


def test_a_profile_that_was_thrown_away_does_not_come_back(tmp_path):
    book, days = with_tom(tmp_path)
    (tmp_path / "people" / f"Tom-{TOM}.md").unlink()
    assert book.profile(TOM) is None
    assert not book.known(TOM)
    book.take(days.memories, "Mira", six)
    assert book.profile(TOM) is None
    days.says("Tom", TOM, "I live in the tower.")
    book.take(days.memories, "Mira", six)
    assert holding(there(book, TOM)) == {"home": "the tower"}


def test_two_files_for_one_person_are_named_and_the_fuller_one_counts(tmp_path):
    _, days = with_tom(tmp_path)
    path = tmp_path / "people" / f"Tom-{TOM}.md"
    path.with_name("copy.md").write_bytes(path.read_bytes())
    days.says("Tom", TOM, "I live in the tower.")
    book = taken(tmp_path, days)
    assert len(book.problems) == 1
    assert "the same key" in book.problems[0]
    assert holding(there(book_of(tmp_path), TOM))["home"] == "the tower"


# -- crashes and threads


class Killed(BaseException):
    """The process ends here."""


OURS = ("/mind/books/profiles/", "/mind/records/files.py")


def killed_at(line: int, work: Any) -> bool:
    """Run ``work`` until the given line of ours; whether it came so far."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if not any(part in frame.f_code.co_filename for part in OURS):
            return None
        if event == "line":
            count += 1
            if count == line:
                raise Killed
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except Killed:
        return True
    finally:
        sys.settrace(before)
    return False


killing = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""Who is killed while a file is written leaves it open."""


def without_cursor(found: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in found.items() if name.endswith(".md")}


def longer() -> Days:
    """:func:`.acquaintances.eventful`, and then somebody known by name alone comes again."""
    days = eventful()
    days.says("Tim", "", "I live in the loft.")
    days.says("Tim", RUAN, "I work as a thatcher.")
    days.later(hours=3).says("Timo", RUAN, "Thomas has found the bell. I've moved to the barn.")
    return days


def from_the_archive(folder: Path, days: Days) -> None:
    """Open the book again and give it what it lacks."""
    book = book_of(folder)
    book.take([each for each in days.memories if each.number > book.through], "Mira", six)


@killing
@pytest.mark.parametrize(("start", "parts"), [(1, (7, 15)), (23, (15,))])
def test_killed_at_any_line_nothing_is_lost_or_doubled(tmp_path, start, parts):
    days = longer()
    wanted = {}
    for line in (0, *range(start * 97, 15_000, 1777)):
        folder = tmp_path / str(line)
        for part in parts[:-1]:
            book_of(folder).take(days.memories[:part], "Mira", six)
        book = book_of(folder)
        reached = killed_at(line, lambda book=book: book.take(days.memories, "Mira", six))
        from_the_archive(folder, days)
        wanted = wanted or without_cursor(files(folder))
        assert without_cursor(files(folder)) == wanted, line
        if line and not reached:
            break
    assert line > 5_000


@killing
def test_killed_again_and_again_it_comes_to_the_same(tmp_path):
    days = longer()
    taken(tmp_path / "whole", days)
    folder = tmp_path / "often"
    for line in (6000, 4000, 7500, 8000, 3000, 5000):
        book = book_of(folder)
        killed_at(line, lambda book=book: book.take(days.memories, "Mira", six))
    from_the_archive(folder, days)
    assert without_cursor(files(folder)) == without_cursor(files(tmp_path / "whole"))


def test_without_its_cursor_the_book_begins_anew_and_doubles_nothing(tmp_path):
    taken(tmp_path, eventful())
    before = files(tmp_path)
    cursor = tmp_path / "people" / ".worked_in.json"
    for torn in ("", "{", '{"through": "x"}', "[]"):
        cursor.write_text(torn, encoding="utf-8")
        taken(tmp_path, eventful())
        assert files(tmp_path) == before
    assert json.loads(cursor.read_text(encoding="utf-8"))["through"] == 12


def test_a_disk_that_cannot_be_written_costs_nothing(tmp_path, monkeypatch):
    days = eventful()
    book = book_of(tmp_path)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("keepsake.records.files.tempfile.mkstemp", full)
        with pytest.raises(NoteRefused, match="No space left"):
            book.take(days.memories, "Mira", six)
        assert book.through == 0
    book.take(days.memories, "Mira", six)
    assert holding(there(book, TOM))["work"] == "baker"


def test_two_threads_at_once(tmp_path):
    days = Days()
    for number in range(40):
        days.says("Tom", TOM, f"I like tune{number}.")
        days.says("Ada", ADA, f"I like dance{number}.")
    book = book_of(tmp_path, PeopleConfig(facts=200, observations=200))
    other = book_of(tmp_path, PeopleConfig(facts=200, observations=200))
    other.open()
    problems: list[BaseException] = []

    def work(mine: PeopleBook, step: int) -> None:
        try:
            for end in range(step, 81, step):
                mine.take(days.memories[:end], "Mira", six)
                mine.profile(TOM)
                mine.find("tom")
            mine.take(days.memories, "Mira", six)
        except Exception as error:  # whatever it is, it belongs to the test's own thread
            problems.append(error)

    threads = [
        threading.Thread(target=work, args=args) for args in ((book, 7), (book, 11), (other, 13))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert problems == []
    for key in (TOM, ADA):
        profile = there(book_of(tmp_path), key)
        assert len(holding_all(profile)) == 40
        assert len(profile.observations) == 40
        assert profile.exchanges == 40


def test_quick_questions_read_no_file(tmp_path, monkeypatch):
    taken(tmp_path, eventful())
    book = book_of(tmp_path)
    assert not book.known(TOM)
    book.open()

    def no(*_: object, **__: object) -> None:
        raise AssertionError("a file was touched")

    monkeypatch.setattr("keepsake.records.files.stamp", no)
    monkeypatch.setattr("keepsake.records.files.read", no)
    assert book.known(TOM)
    assert not book.known("nobody")
    assert book.names_of(TOM) == ("Thomas", "Tom")
    assert book.loaded(TOM) is not None


def test_a_file_that_kept_its_old_name_in_a_crash_gets_the_new_one(tmp_path):
    taken(tmp_path, eventful())
    people = tmp_path / "people"
    (people / f"Thomas-{TOM}.md").rename(people / f"Tom-{TOM}.md")
    book = book_of(tmp_path)
    book.open()
    assert [path.name for path in people.glob("T*.md")] == [f"Thomas-{TOM}.md"]
    assert there(book, TOM).name == "Thomas"
    assert book.problems == []


def test_a_place_of_a_strange_name_has_a_file_by_that_name(tmp_path):
    days = Days(place="Hale, Clocks Mended")
    days.says("Tom", TOM, "Good day.")
    book = taken(tmp_path, days)
    [place] = [light for light in book.all() if light.kind is ProfileKind.PLACE]
    [file] = (tmp_path / "places").glob("*.md")
    assert f"place:{file.stem}" == place.key
