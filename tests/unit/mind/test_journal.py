"""The journal: one markdown file a day, which people may edit, and its lines in a prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keepsake.books.entries import MOST_SHOWN, EntryOrigin, Rater, local_day, prompt_lines
from keepsake.books.journal import Journal, importance
from tests.sentences import table
from tests.unit.mind import journals
from tests.unit.mind.fake_agent import WordTokens
from tests.unit.mind.journals import NOON, days_ago, write

CUP = 'Tom told me: "I will bring the blue cup back."'


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal")


def file_of(journal: Journal) -> Path:
    return journal.folder / f"{local_day(NOON).isoformat()}.md"


def test_an_entry_can_be_read_back_and_is_written_once_a_day(journal: Journal):
    entry = write(journal, CUP, 8, memories=(121, 120), who=("t",))
    assert entry.id == f"{local_day(NOON):%Y%m%d}-1"
    assert (entry.text, entry.time, entry.memories) == (CUP, NOON, (120, 121))
    assert write(journal, CUP, 6, memories=(131,), who=("t",)) == entry
    assert journal.entries() == Journal(journal.folder).entries() == (entry,)
    write(journal, CUP, who=("t",), now=days_ago(1))
    write(journal, CUP, who=("another",))
    assert len(journal.entries()) == 3
    file_of(journal).unlink()
    assert len(journal.entries()) == 1


def test_text_that_people_wrote_stays_word_for_word(journal: Journal):
    path = file_of(journal)
    day = f"{local_day(NOON):%Y%m%d}"
    source = "\n".join(table("a journal file edited by hand")).format(day=day) + "\n"
    path.parent.mkdir()
    path.write_text(source)
    write(journal, "Rain fell.", 3)
    (entry, added, rain) = journal.entries()
    assert (entry.text, entry.importance) == ("Tom gave me a cup.", 6)
    assert (added.text, added.memories) == ("Ada owes me two pears.", (4, 5, 6, 9))
    assert (added.rated_by, f"{added.time.astimezone():%H:%M}") == (Rater.AGENT, "08:15")
    assert rain.id == f"{day}-901"
    text = path.read_text()
    assert text.startswith(source), "to the letter"
    (problem,) = (each for each in journal.problems if "very" in each)
    broken = int(problem.split("line ")[1].split(":")[0])
    assert text.splitlines()[broken - 1] == f"## {day}-2"


def lines(journal: Journal, budget: int = 500) -> tuple[str, ...]:
    return prompt_lines(journal.known, budget, NOON, WordTokens())


def test_the_most_important_entries_are_shown_oldest_first_within_the_budget(journal: Journal):
    write(journal, "Tom came.", 7, now=days_ago(1), who=("tom",))
    write(journal, "It rained on us.", 3)
    write(journal, "Ada came.", 7)
    write(journal, "The mill burned down.", 9, now=days_ago(3))
    assert [each.split("] ")[1] for each in lines(journal)] == [
        "The mill burned down.",
        "Tom came.",
        "Ada came.",
    ]
    room = sum(map(WordTokens().of, lines(journal)[:2]))
    assert "Ada came." in lines(journal, room)[1], "of equally important entries the newest"
    shown = prompt_lines(journal.known, room, NOON, WordTokens(), about={"tom"})
    assert "Tom came." in shown[1], "entries about the asker come first"
    for number in range(30):
        write(journal, f"Tom gave me {number} cups of honey.", 5 + number % 5)
    for budget in (0, 5, 14, 40, 100):
        assert sum(map(WordTokens().of, lines(journal, budget))) <= budget
    assert all("importance 9" in each for each in lines(journal, 40))


def test_entries_about_what_is_spoken_of_and_who_is_here_come_first_and_few(journal: Journal):
    write(journal, "Bob asks too much about a watch.", 5, who=("bob",))
    write(journal, "Wren gave me green glass.", 4, who=("wren",))
    for number in range(9):
        write(journal, f"Anneke told me rope {number}.", 8, who=("anneke",))
    here = {"bob", "wren"}
    shown = prompt_lines(journal.known, 500, NOON, WordTokens(), about=here)
    assert [each.split()[4] for each in shown] == ["Bob", "Wren", "Anneke", "Anneke"]
    asked = prompt_lines(
        journal.known, 500, NOON, WordTokens(), about=here, words="Whom did Anneke run from?"
    )
    assert len(asked) == MOST_SHOWN
    assert all("Anneke" in each for each in asked)
    assert len(lines(journal)) == MOST_SHOWN


def test_an_entry_is_replaced_only_by_one_that_may_be_shown(journal: Journal):
    write(journal, "Tom can be relied upon.", 2, memories=(7, 8), origin=EntryOrigin.INFERRED)
    assert journal.entry_about(7) is None, "an inference does not replace the memory"
    write(journal, CUP, 6, memories=(7,))
    model = write(journal, "Tom hid it in the well.", 8, rated_by=Rater.MODEL, memories=(7, 9))
    write(journal, "Ada came by.", 1, memories=(7, 8))
    assert journal.entry_about(7) == model
    (shown,) = lines(journal)
    assert "in the well" in shown
    open_ = prompt_lines(journal.known, 500, NOON, WordTokens(), lambda it: 9 not in it.memories)
    assert [each.split("] ")[1] for each in open_] == [f"{CUP} (memory 7)"]


@pytest.mark.parametrize(("make", "words", "facts", "score"), table("forms of memories"))
def test_importance_of_each_form_of_memory(make: str, words: list[str], facts: Any, score: int):
    memory = getattr(journals, make)(1, *words, **facts)
    assert importance(memory, "Mira") == score
