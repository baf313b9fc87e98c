"""No text can forge structure in a journal's file, and no file can break the journal."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from keepsake.books.entries import (
    LONGEST,
    MOST_NUMBERS,
    EntryOrigin,
    JournalEntry,
    Rater,
    appended,
    clean,
    line,
    normal,
    parse,
)
from tests.sentences import table
from tests.unit.mind.journals import NOON

DAY = NOON.astimezone().date()
PREFIX = f"{DAY:%Y%m%d}"

HOSTILE = [*(each.replace("{day}", PREFIX) for each in table("hostile journals")), "a" * 3000]
texts = st.one_of(
    st.text(max_size=300),
    st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=20)), max_size=5).map("".join),
)


def entry(number: int, text: str) -> JournalEntry:
    """Return an entry with more people and memories than a file stores."""
    made = JournalEntry(
        f"{PREFIX}-{number}",
        NOON.astimezone(),
        clean(text),
        number % 10 + 1,
        list(Rater)[number % len(Rater)],
        list(EntryOrigin)[number % len(EntryOrigin)],
        (-5, *range(number, 10**10, 10**7)),
        (text, *map(str, range(30))),
    )
    return normal(made)


@example(HOSTILE[0])
@given(texts)
def test_any_text_becomes_plain_text_of_one_line(text: str):
    found = clean(text)
    assert clean(found) == found
    assert len(found) <= LONGEST
    assert not found.startswith(("#", "-", "*", ">", "+", "|", "`", "~", "=", " "))
    assert not set(found) & set("[]<>`\n\r\u2028\x00\u202e")
    assert "**" not in found


@example(HOSTILE)
@given(st.lists(texts, max_size=4))
def test_any_texts_can_be_read_back(given_texts: list[str]):
    source = None
    written = []
    for number, text in enumerate(given_texts, start=1):
        if clean(text):
            written.append(entry(number, text))
            source = appended(source, written[-1])
    again = parse(DAY, source or "")
    assert again.entries == tuple(written)
    assert again.problems == ()
    assert all(len(each.memories) <= MOST_NUMBERS for each in written)
    assert again.last == (written[-1].order[1] if written else 0)
    assert all(line(each, NOON).count("\n") == 0 for each in written)


lines = st.sampled_from([each.replace("{day}", PREFIX) for each in table("lines of journals")])


@example(f"## {PREFIX}-1\nOnce.\n## {PREFIX}-1\nTwice.\n")
@given(st.one_of(st.text(max_size=400), st.lists(lines, max_size=30).map("\n".join)))
def test_any_file_can_be_read_and_extended_without_loss(source: str):
    file = parse(DAY, source)
    assert len({each.id for each in file.entries}) == len(file.entries)
    assert all(1 <= each.importance <= 10 for each in file.entries)
    assert all(each.time.tzinfo for each in file.entries)
    new = entry(file.last + 1, "New.")
    longer = appended(source, new)
    assert parse(DAY, longer).entries == (*file.entries, new)
    before, after = (
        [line for line in text.split("\n") if line.strip() and not line.startswith("last:")]
        for text in (source.rstrip(), longer)
    )
    assert [line.rstrip() for line in after][: len(before)] == [line.rstrip() for line in before]
