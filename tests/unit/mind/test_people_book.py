"""The book of people: what they said and gave last, and how they are told apart."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake import files
from keepsake.agent.memory.telling import Shown, calls, told_in
from keepsake.archive.message_types import MessageType
from keepsake.archive.summaries import Tier
from keepsake.books import files as vault_files
from keepsake.books.notes import NoteBook
from keepsake.books.people import PeopleBook, PromptContext
from keepsake.books.people import lines as lines_of_people
from keepsake.books.person_page import (
    MOST_LINES,
    PageLine,
    PersonPage,
    format_page,
    line_of,
    parse_page,
    with_memories,
)
from keepsake.happening import ME, Deed
from keepsake.memory.summary_text import SummarySource, extractive
from tests.unit.mind.fake_agent import WordTokens
from tests.unit.mind.memory_log import (
    ADA,
    RUAN,
    START,
    TOM,
    MemoryLog,
    book_of,
    file_contents,
    page_of,
    sample_log,
)


def people_lines(*given, **more):
    return tuple(each.text for each in lines_of_people(*given, **more))


def said(book: PeopleBook, key: str) -> list[str]:
    return [line.text for line in page_of(book, key).lines if line.said]


def test_a_page_has_a_persons_sentences_and_gifts(tmp_path):
    book = book_of(tmp_path, sample_log())
    assert said(book, TOM) == [
        "Good evening, Mira.",
        "I'm a miller. My brother Ostrey keeps bees.",
        "I've left the mill. I'm a baker now.",
        "The keeper of the old lighthouse has left me a map.",
    ]
    ada = page_of(book, ADA)
    lines = [line.text for line in ada.lines]  # without her words to Ruan
    assert lines == ["gives you a blue cup.", "Nobody may know where it is."]
    assert (page_of(book, TOM).meetings, ada.meetings) == (3, 3)
    again = PeopleBook(tmp_path)
    assert [again.page(key) for key in (TOM, ADA)] == [page_of(book, TOM), ada]


def test_a_statement_repeated_in_other_words_is_quoted_and_no_fact(tmp_path):
    log = MemoryLog()
    sentences = ("I used to live in Vell.", "My home was Vell.", "I moved here from Vell.")
    sentences += ("Vell is where I lived before.", "I have left Vell, my home.")
    for each in sentences:
        log.says("Tom", TOM, each)
    book = book_of(tmp_path, log)
    assert said(book, TOM) == [*sentences]
    (line,) = people_lines([(TOM, "Tom")], book, 300, PromptContext(log.now, WordTokens()))
    head, _, quotes = line.partition("; told you: ")
    assert (head.count("Vell"), quotes.count("Vell")) == (0, 4)
    assert quotes.count("'") // 2 == 4


def test_a_page_keeps_the_order_of_memories_after_a_clock_error(tmp_path):
    log = MemoryLog()
    for number, day in enumerate((0, 9_000, 1, 2)):
        log.now = START + timedelta(days=day)
        log.says("Tom", TOM, f"I have mended net {number}.")
    book_of(tmp_path, log)
    page = page_of(PeopleBook(tmp_path), TOM)
    assert (page.meetings, page.last_met) == (4, log.memories[-1].time)
    assert [line.numbers for line in page.lines] == [(1,), (2,), (3,), (4,)]


def test_pages_summaries_and_notes_use_the_local_day(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "NZ")
        time.tzset()
        noon = START + timedelta(hours=2)
        log = MemoryLog(now=noon)
        heard = log.says("Tom", TOM, "My boat is red.")
        telling = PromptContext(noon, WordTokens())
        (line,) = people_lines([(TOM, "Tom")], book_of(tmp_path, log), 300, telling)
        summary = extractive(SummarySource(Tier.RECENT, "Mira", (heard,))).text
        notes = NoteBook(tmp_path / "notes")
        note = [notes.write("Boats", text, now=noon) for text in ("Blue.", "Red.")][1]
    time.tzset()
    assert line.startswith("Tom, met 2 November")
    assert summary.startswith("- 2 Nov: ")
    assert "[2026-11-02 01:00] Red." in note.text


def test_a_renamed_person_stays_the_same_and_namesakes_are_two(tmp_path):
    log = sample_log()
    log.says("Tom", RUAN, "I am another Tom.")
    book = book_of(tmp_path, log)
    assert list(page_of(book, TOM).names) == ["Tom", "Thomas"]
    assert said(book, RUAN) == ["I am another Tom."]
    files = {path.name for path in book.folder.glob("*.md")}
    assert files == {f"Thomas-{TOM}.md", f"Ada-{ADA}.md", f"Tom-{RUAN}.md"}


@pytest.mark.parametrize("name", ["../../etc", "a: b\n- c", "*anchor", "| x", "'", "ф", "x" * 500])
def test_no_name_breaks_out_of_the_folder_or_the_file(tmp_path, name):
    log = MemoryLog()
    log.says(name, TOM, "Hello there.")
    book = book_of(tmp_path, log)
    assert len(PeopleBook(tmp_path).all()) == 1
    assert {path.parent for path in tmp_path.rglob("*") if path.is_file()} == {book.folder}


def test_peoples_text_stays_and_a_broken_page_waits_for_repair(tmp_path):
    log = sample_log()
    book = book_of(tmp_path, log)
    (path,) = book.folder.glob("Ada-*.md")
    whole = path.read_text().replace("# Ada\n", "# Ada\n\nLikes rosemary.\n\n## Mine\n\nx\n")
    path.write_text("broken\n")
    log.says("Ada", ADA, "Meanwhile.")
    log.says("Thomas", TOM, "Meanwhile too.")
    book.take(log.memories)
    assert path.read_text() == "broken\n"
    assert "Meanwhile too." in said(book, TOM)
    assert any("Ada-" in problem for problem in book.problems)
    assert len(list(book.folder.glob("Ada-*.md"))) == 1
    path.write_text(whole)
    log.says("Ada", ADA, "Mended.")
    book.take(log.memories)
    assert [*filter(None, page_of(book, ADA).by_hand)] == ["Likes rosemary.", "## Mine", "x"]
    assert "Mended." in path.read_text()


def test_a_kill_at_any_write_loses_and_doubles_nothing(tmp_path, monkeypatch):
    log = sample_log()
    real = vault_files.written_aside
    whole = file_contents(book_of(tmp_path / "whole", log).folder)
    for dies in range(1, len(whole) + 1):
        left = [dies]

        def killed(*given, real=real, left=left):
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt
            return real(*given)

        folder = tmp_path / str(dies)
        with monkeypatch.context() as patched:
            patched.setattr(vault_files, "written_aside", killed)
            patched.setattr(files, "written_aside", killed)
            with pytest.raises(KeyboardInterrupt):
                book_of(folder, log)
        assert file_contents(book_of(folder, log).folder) == whole


# -- in a prompt


def test_confided_lines_come_first_and_only_for_those_who_may_hear_them(tmp_path):
    log = sample_log()
    secret = log.memories[-1].number
    for number in range(8):
        log.says("Ada", ADA, f"I have baked loaf {number}.")
    book = book_of(tmp_path, log)
    ada = [(ADA, "Ada")]
    tomorrow = log.now + timedelta(days=1)
    how = PromptContext(tomorrow, WordTokens(), confided=lambda numbers: secret in numbers)
    (line,) = people_lines(ada, book, 300, how)
    assert "told you in confidence: 'Nobody may know" in line
    assert line.index("Nobody may know") < line.index("loaf 7")
    assert "loaf 2" not in line, "of the other lines only the newest"
    open_to_all = replace(how, may=lambda numbers: secret not in numbers)
    (shown,) = people_lines(ada, book, 300, open_to_all)
    assert "Nobody may know" not in shown
    assert "loaf 7" in shown


def test_what_somebody_told_comes_before_what_they_said_last(tmp_path):
    log = MemoryLog()
    for words in ("I mend sails in Tollen.", "My sister is Lotte.", "Will you come?"):
        log.says("Tom", TOM, words)
    book = book_of(tmp_path, log)
    how = PromptContext(log.now, WordTokens(), told=lambda words, name: told_in(words, (name,)))
    (line,) = people_lines([(TOM, "Tom")], book, 300, how, TOM)
    told = "told you: 'I mend sails in Tollen.', 'My sister is Lotte.'; last said: 'Will you come?'"
    assert line.endswith(told)
    summed = replace(how, is_said=lambda words, _: "Lotte" in words, shown=frozenset({1}))
    (line,) = people_lines([(TOM, "Tom")], book, 300, summed, TOM)
    assert "Lotte" not in line, "a summary says it"
    assert "Tollen" not in line, "an excerpt shows it"


WALKED = (
    "Good evening, Mira. I walked from Ostrey; my dog Pilchard stayed behind. Is there anything "
    "without aniseed? I can't abide aniseed."
)


def told_by(tmp_path, *words, **how):
    """Return the prompt's line about Tom, who said these words."""
    log = MemoryLog()
    for each in words:
        log.says("Tom", TOM, each)
    book = book_of(tmp_path, log)
    if portrait := how.pop("portrait", ""):
        studied = log.memories[-2].number
        book.conclude(TOM, lambda page: replace(page, portrait=portrait, studied=studied))
    known = PromptContext(
        log.now,
        WordTokens(),
        told=lambda words, name: told_in(words, (name, "Mira")),
        is_said=lambda words, texts: Shown(texts).says(words),
        **how,
    )
    return "".join(people_lines([(TOM, "Tom")], book, 1000, known, TOM))


def test_a_prompt_quotes_what_somebody_told_without_their_questions(tmp_path):
    asked = ("Evening, Mira. Has Nell asked you about my bed?", "你的狗叫什么？", "ما اسم كلبك؟")
    line = told_by(tmp_path, WALKED, *asked)
    assert "'I walked from Ostrey; my dog Pilchard stayed behind. I can't abide aniseed.'" in line
    assert "without aniseed?" not in line
    assert "Nell" not in line
    assert "你" not in line
    assert line.count("؟") == 1, "the last words are a question"


@pytest.mark.parametrize(
    ("words", "called"),
    [
        ("Mira, would you go up and thank Bram?", True),
        ("mira! Thank Bram.", True),
        ("ミラ、ブラムに礼を言って。", True),
        ("Mira would thank Bram.", False),
        ("I told Mira, and she thanked Bram.", False),
        ("Miranda, thank Bram.", False),
    ],
)
def test_words_that_call_somebody_else_are_told_to_them(words, called):
    assert calls(words, ["Mira", "ミラ"]) is called


def test_of_who_is_not_answered_only_what_is_near_to_the_question_is_quoted(tmp_path):
    log = MemoryLog()
    log.says("Tom", TOM, WALKED)
    log.says("Ann", "Ann-1", "I mend nets in Tollen.")
    book = book_of(tmp_path, log)
    here = [(TOM, "Tom"), ("Ann-1", "Ann")]
    how = PromptContext(log.now, WordTokens())
    told = people_lines(here, book, 1000, how, TOM)
    assert "Pilchard" in told[0]
    assert not any("Tollen" in each for each in told)
    near = replace(how, nearest=[log.memories[-1].number])
    assert "Tollen" in people_lines(here, book, 1000, near, TOM)[1]
    assert all("told you" in line for line in people_lines(here, book, 1000, how))


def test_of_what_somebody_told_that_is_shown_which_tells_most(tmp_path):
    line = told_by(tmp_path, WALKED, *(f"It is {number}, Mira." for number in range(9)))
    assert "Pilchard" in line
    assert "It is 8" in line


def test_last_words_are_shown_only_if_the_window_has_no_newer_ones(tmp_path):
    words = ("My boat leaks.", "Will you come?", "Or not?")
    assert "last said: 'Or not?'" in told_by(tmp_path / "a", *words)
    assert "last said" not in told_by(tmp_path / "b", *words, before=3)


def test_what_the_paragraph_was_written_from_is_not_shown_besides(tmp_path):
    portrait = "A walker from Ostrey."
    words = (WALKED, "My boat leaks.", "I sail at noon.")
    line = told_by(tmp_path / "a", *words, portrait=portrait)
    assert "told you: 'I sail at noon.'" in line
    assert "aniseed" not in line
    assert "aniseed" in told_by(tmp_path / "b", *words, portrait=portrait, nearest=(1,))
    said = told_by(tmp_path / "c", *words, portrait="He sails at noon, I sail at noon.")
    assert "told you" not in said, "the paragraph says it"


def test_of_neighbours_known_for_years_only_what_bears_on_the_moment_is_shown(tmp_path):
    words = ("Three times through my door, Mira.", "The ferry is late on Sunday.")
    old = {"of_old": frozenset({TOM})}
    assert "'" not in told_by(tmp_path / "a", *words, **old)
    line = told_by(tmp_path / "b", *words, **old, nearest=(2,))
    assert line.endswith("whom you have long known; told you: 'The ferry is late on Sunday.'")


def test_what_an_agent_did_itself_when_somebody_came_is_not_on_their_page(tmp_path):
    log = MemoryLog()
    log.says("Tom", TOM, "Good evening.")
    (heard,) = log.memories
    tom = heard.heard.speaker
    came = Deed(actor=tom, verb="go", to=(ME,), shown="Tom is new here; you asked for apples.")
    did = Deed(actor=tom, verb="deed", to=(ME,), shown="Tom brought you a basket of apples.")
    lines = [line_of(replace(heard, what=what, event=MessageType.DEED)) for what in (came, did)]
    assert lines[0] is None
    assert lines[1].text == "brought you a basket of apples."


def test_of_much_that_somebody_told_the_nearest_to_the_question_is_shown(tmp_path):
    log = MemoryLog()
    for number in range(30):
        log.says("Tom", TOM, f"I have baked loaf {number}.")
    book = book_of(tmp_path, log)
    third = log.memories[2].number
    how = PromptContext(log.now, WordTokens(), nearest=(third,))
    (line,) = people_lines([(TOM, "Tom")], book, 1000, how, TOM)
    assert "loaf 2." in line
    assert "loaf 29." in line, "then the newest"
    assert "loaf 12." not in line


def test_somebody_whom_the_profile_names_is_long_known(tmp_path):
    log = sample_log()
    how = PromptContext(log.now, WordTokens(), of_old=frozenset({TOM}))
    lines = people_lines([(TOM, "Thomas"), (ADA, "Ada")], book_of(tmp_path, log), 300, how)
    by_name = {line.split(",")[0]: line for line in lines}
    tom = next(line for name, line in by_name.items() if name.startswith("Thomas"))
    assert "whom you have long known" in tom
    assert "met " not in tom.partition(";")[0]
    assert by_name["Ada"].startswith("Ada, met ")


def test_a_full_page_drops_chatter_before_what_was_told_first(tmp_path):
    log = MemoryLog()
    log.says("Tom", TOM, "I mend sails in Tollen, and my sister Lotte keeps bees.")
    for number in range(2 * MOST_LINES):
        log.says("Tom", TOM, f"Well, {number}.")
    lines = [line.text for line in page_of(book_of(tmp_path, log), TOM).lines]
    assert len(lines) == MOST_LINES
    assert lines[0].startswith("I mend sails")
    assert lines[-1] == f"Well, {2 * MOST_LINES - 1}."


# -- a page as a file

_WORDS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=80)


@given(st.lists(_WORDS, max_size=5), _WORDS)
def test_no_words_forge_a_line_or_a_heading(words, name):
    log = MemoryLog()
    for each in words:
        log.says("Tom", TOM, each)
    page = with_memories(None, TOM, [*log.memories, log.does("Tom", TOM, "waves.")])
    again = parse_page(format_page(page), START)
    assert [each.numbers for each in again.lines] == [each.numbers for each in page.lines]
    assert again.by_hand == ()
    when = datetime(2026, 1, 1, tzinfo=UTC)
    portrait = PersonPage("k", ("Tom",), when, when)
    line = PageLine("x", (1,), when)
    assert portrait.with_lines([line, line]).lines == (line,)
