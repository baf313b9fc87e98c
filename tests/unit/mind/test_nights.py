"""A night's model calls: what they show, how many there are, and what their answers change."""

from __future__ import annotations

import itertools
import json
import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from keepsake.agent.sleep.night import Figures, NightAsk
from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.entries import Rater, line, prompt_lines
from keepsake.books.journal import Journal
from keepsake.happening import ME, Person, Speech
from keepsake.tasks.night import journal_task, memory_line
from keepsake.tasks.task import AnswerRefused
from tests.memories import old_memory
from tests.sentences import table
from tests.unit.mind.fake_agent import WordTokens
from tests.unit.mind.journals import NOON, did, told, write
from tests.unit.mind.memory_log import TOM, MemoryLog, book_of, page_of
from tests.unit.mind.night_runner import PROMPTS, RuleModel, night_work, prompt_of

JOURNAL = PROMPTS["journal"].current
DAY = [
    told(1, "My sister Lotte died in February."),
    did(2, "say Then tonight there is rosemary in the pot, for Lotte."),
    *(told(number, f"The tide is in, line {number}.") for number in range(3, 9)),
]
LOTTE = {"text": "Tom's sister Lotte died in February.", "importance": 9, "memories": [1, 2]}


def entries(*found: object) -> str:
    return json.dumps({"entries": found})


@pytest.mark.parametrize(
    ("answer", "why"), [*table("refused journals"), (f'{{"a": {"[" * 50_000}}}', "not a JSON")]
)
def test_invalid_journal_answers_are_refused(answer, why):
    with pytest.raises(AnswerRefused, match=why):
        journal_task(JOURNAL, "Mira", DAY).read(answer)


@pytest.mark.parametrize("answer", table("styles of JSON"))
def test_json_is_read_in_the_styles_of_models(answer):
    (draft,) = journal_task(JOURNAL, "Mira", DAY).read(answer)
    assert draft.memories == (1, 2)


def test_a_line_names_whom_the_agent_spoke_to():
    said = Speech(speaker=ME, words="Sit down.", to=(Person("Tom", "Tom-1"),))
    assert memory_line(Memory(7, NOON, said)).endswith('] You to Tom: "Sit down."')


@pytest.fixture
def book(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal")


def written(book: Journal, model: RuleModel, memories: list[Memory] = DAY) -> Figures:
    return night_work(book, now=NOON).write_journal(NightAsk(model, 9), memories)


def test_whispers_are_not_shown_and_short_days_are_skipped(book):
    secret = old_memory(
        DAY[0].number,
        DAY[0].time,
        MemoryKind.PERCEPTION,
        'Tom whispers to you, "The key is below the stone."',
        source="Tom",
    )
    model = RuleModel(lambda _: entries())
    written(book, model, [secret, *DAY[1:]])
    assert "stone" not in model.prompts[0]
    assert written(book, model, DAY[:3]) == {}
    assert len(model.prompts) == 1


def test_private_lines_are_not_shown_for_a_portrait(tmp_path):
    log = MemoryLog()
    for number in range(4):
        log.says("Tom", TOM, f"I have mended net {number}.")
    model = RuleModel(lambda _: "Mends nets.")

    def may_be_shown(numbers):
        return 4 not in numbers

    work = night_work(None, book_of(tmp_path, log), log.read, may_be_shown)
    work.write_portraits(NightAsk(model, 9))
    assert "net 2" in model.prompts[0]
    assert "net 3" not in model.prompts[0]


def test_a_portrait_is_written_of_the_whole_of_the_last_answer(tmp_path):
    log = MemoryLog()
    for number in range(4):
        log.says("Tom", TOM, f"I have mended net {number}.")
    whole = ("say Three, and a fourth.", "say And the fifth?")
    answer = [replace(log.acts(each), number=5 + place) for place, each in enumerate(whole)]
    to_tom = [replace(each, what=replace(each.what, to=(Person("Tom", TOM),))) for each in answer]

    def read(first, last):
        return [m for m in [*log.memories[:4], *to_tom] if first <= m.number <= last]

    model = RuleModel(lambda _: "Mends nets.")
    people = book_of(tmp_path, log)
    night_work(None, people, read).write_portraits(NightAsk(model, 9))
    assert numbers_in(model) == [1, 2, 3, 4, 5, 6]
    assert page_of(people, TOM).studied == 6, "so the next night does not read them again"


def test_late_each_task_asks_once(tmp_path):
    late = threading.Event()
    ask = NightAsk(RuleModel(), 24, late=late)
    for _ in range(2):
        ask.begin_task()
        assert ask.available
        ask(prompt_of("What?"))
    assert ask.available, "a night has room for all of its work"
    late.set()
    assert not ask.available
    ask.begin_task()
    assert ask.available


@pytest.fixture
def long_evening() -> MemoryLog:
    """Tom tells more in one evening than fits one prompt, and than his page keeps."""
    log = MemoryLog()
    for number in range(1, 401):
        log.says("Tom", TOM, f"Net {number} is mended; its rope is {number} fathoms long, Mira.")
    return log


def numbers_in(model: RuleModel) -> list[int]:
    lines = re.findall(r"^(\d+)\. \[", "\n".join(model.prompts), re.M)
    return [int(number) for number in lines]


def test_a_portrait_is_written_of_all_that_somebody_said_in_pieces(tmp_path, long_evening):
    people = book_of(tmp_path, long_evening)
    pieces = itertools.count(1)
    model = RuleModel(lambda _: f"Mends nets, piece {next(pieces)}.")
    night_work(None, people, long_evening.read).write_portraits(NightAsk(model, 24))
    assert numbers_in(model) == list(range(1, 401))
    assert len(model.prompts) > 1
    assert "Mends nets, piece 1." in model.prompts[1]
    page = page_of(people, TOM)
    assert (page.portrait, page.studied) == (f"Mends nets, piece {len(model.prompts)}.", 400)


def test_what_the_limit_of_calls_leaves_of_a_portrait_is_read_the_next_night(
    tmp_path, long_evening
):
    people = book_of(tmp_path, long_evening)
    first = RuleModel(lambda _: "Mends nets.")
    second = RuleModel(lambda _: "Mends nets.")
    night = night_work(None, people, long_evening.read)
    night.write_portraits(NightAsk(first, 3))
    night.write_portraits(NightAsk(second, 24))
    assert numbers_in(first) + numbers_in(second) == list(range(1, 401))


def test_a_refused_portrait_is_asked_for_again_the_next_night(tmp_path):
    log = MemoryLog()
    for number in range(4):
        log.says("Tom", TOM, f"I have mended net {number}.")
    people = book_of(tmp_path, log)
    night = night_work(None, people, log.read)
    figures = night.write_portraits(NightAsk(RuleModel(lambda _: "…"), 9))
    assert figures == {"asked": 1, "refused": 1}
    model = RuleModel(lambda _: "Mends nets.")
    assert night.write_portraits(NightAsk(model, 9)) == {"asked": 1}
    assert "net 0" in model.prompts[0]
    assert page_of(people, TOM).portrait == "Mends nets."


def test_a_model_writes_the_entries_of_the_day(book):
    write(book, 'Tom told me: "My sister Lotte died in February."', 5, memories=(1,))
    assert written(book, RuleModel(lambda _: entries(LOTTE))) == {"written": 1}
    entry = book.entries()[-1]
    assert entry.text == LOTTE["text"]
    assert (entry.importance, entry.rated_by) == (9, Rater.MODEL)
    assert entry.memories == (1, 2)
    assert book.entry_about(1) == entry
    assert prompt_lines(book.known, 500, NOON, WordTokens()) == (line(entry, NOON),)
    written(book, RuleModel(lambda _: entries(LOTTE)))
    assert len(book.entries()) == 2, "the second run changes nothing"


def test_the_model_calls_of_a_night_are_limited():
    model = RuleModel()
    ask = NightAsk(model, 5)
    while ask.available:
        ask(prompt_of("Well?"))
    assert ask.calls == len(model.prompts) == 4, "one call is kept for a retry"
