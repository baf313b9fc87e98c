"""What a compaction lost, word by word."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.summaries import Summary, Tier
from keepsake.archive.tiers import SummaryState
from keepsake.events.values import CompactionOutcome
from keepsake.happening import ME, Deed, KnownVerb, Person, Sight, Speech
from keepsake.memory.history import PastCompaction
from keepsake.tracing.kept import Kept
from keepsake.tracing.losses import losses, summary_losses
from tests.memories import old_memory

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def made(text):
    """Return the first compaction, which made this short-term summary."""
    return compaction(SummaryState(), SummaryState(None, recent(1, 9, text), 9, 1, NOON))


def recent(first, last, text):
    return Summary(Tier.RECENT, first, last, text, "a model", NOON)


def longterm(last, text):
    return Summary(Tier.LONGTERM, 1, last, text, "a model", NOON)


def compaction(before, after):
    return PastCompaction(
        number=1,
        time=NOON,
        reason="manual",
        outcome=CompactionOutcome.FIRST,
        covered=(1, 9),
        kept=0,
        tokens_before=0,
        tokens_after=0,
        seconds=0.0,
        calls=0,
        prompt_tokens=0,
        completion_tokens=0,
        steps=(),
        before=before,
        after=after,
    )


@pytest.mark.parametrize(
    ("line", "kept", "missing"),
    [
        ('Tom says, "My sister Liesbet drowned."', Kept.LIKELY, ()),
        ('Tom says, "My sister Liesbet drowned in 1962."', Kept.LIKELY, ("1962",)),
        ('Tom says, "The goat ate seven hats."', Kept.GONE, ("goat", "ate", "seven", "hats")),
        ('Tom says, "And so it is."', Kept.GONE, ()),
        ('Tom says, "Sister, has drowned."', Kept.VERBATIM, ()),
        ("Tom's sister.", Kept.VERBATIM, ()),
        ("The rown.", Kept.GONE, ("rown",)),
        ("A goat drowned.", Kept.UNSURE, ("goat",)),
    ],
)
def test_a_memory_is_there_word_for_word_or_told_shorter_or_gone(line, kept, missing):
    memory = old_memory(1, NOON, MemoryKind.PERCEPTION, line, source="Tom")
    (loss,) = losses(made("Liesbet, Tom's sister, has drowned."), [memory])
    assert (loss.kept, loss.missing) == (kept, missing)


@pytest.mark.parametrize(
    ("line", "summary", "missing"),
    [
        ("The goat ate 7 hats.", "A goat has eaten seven hats.", ("ate",)),
        ("The goat ate seven hats.", "A goat has eaten 7 hats.", ("ate",)),
        ("Die Ziege frisst sieben Hüte.", "Die Ziege hat 7 Hüte und die Mütze.", ("frisst",)),
        ("Supper and soup at 17:20.", "Supper and soup at twenty past five.", ()),
        ("Supper and soup at 17:20.", "Supper and soup at 5:20.", ()),
        ("Supper and soup at 17:20.", "Supper and soup at half past five.", ("17", "20")),
    ],
)
def test_a_number_in_words_is_the_number(line, summary, missing):
    memory = old_memory(1, NOON, MemoryKind.PERCEPTION, line)
    (loss,) = losses(made(summary), [memory])
    assert loss.kept in (Kept.LIKELY, Kept.UNSURE)
    assert loss.missing == missing


def test_a_whisper_is_kept_in_the_archive_and_never_summarised():
    line = 'Tom whispers to you, "My sister Liesbet drowned."'
    memory = old_memory(1, NOON, MemoryKind.PERCEPTION, line, source="Tom", event="whisper")
    assert memory.confidants is not None
    (loss,) = losses(made("Liesbet, Tom's sister, has drowned."), [memory])
    assert loss.kept is Kept.WHISPERED


def test_the_greatest_loss_comes_first():
    lines = ("Liesbet drowned.", "A sister came in red.", "Seven goats ate.")
    memories = [
        old_memory(n, NOON, MemoryKind.PERCEPTION, line) for n, line in enumerate(lines, start=1)
    ]
    found = losses(made("Liesbet, Tom's sister, has drowned."), memories)
    assert [each.memory.number for each in found] == [3, 2, 1]


def test_a_text_without_spaces_between_words_is_found_word_for_word():
    memory = old_memory(1, NOON, MemoryKind.PERCEPTION, "姉は溺れた", source="Tom")
    (loss,) = losses(made("トムの姉は溺れた。"), [memory])
    assert loss.kept is Kept.VERBATIM


BEFORE = SummaryState(
    longterm(9, "- Tom mends nets.\n- Liesbet drowned in the cold channel."),
    recent(10, 20, "## 4 May\nAnn sails on Thursday. The goat ate seven hats."),
    20,
    2,
    NOON,
)


def test_the_second_step_compares_each_sentence_with_the_summary_that_covers_it():
    after = SummaryState(
        longterm(20, "Tom mends nets. Liesbet drowned. On Thursday Ann sails."),
        recent(21, 30, "The goat ate seven hats."),
        30,
        3,
        NOON,
    )
    assert [
        (each.tier, each.text, each.kept, each.missing)
        for each in summary_losses(compaction(BEFORE, after))
    ] == [
        (
            Tier.RECENT,
            "The goat ate seven hats.",
            Kept.GONE,
            ("goat", "ate", "seven", "hats"),
        ),
        (Tier.RECENT, "4 May", Kept.GONE, ("4",)),
        (
            Tier.LONGTERM,
            "Liesbet drowned in the cold channel.",
            Kept.UNSURE,
            ("cold", "channel"),
        ),
        (Tier.RECENT, "Ann sails on Thursday.", Kept.LIKELY, ()),
        (Tier.LONGTERM, "Tom mends nets.", Kept.VERBATIM, ()),
    ]


def test_a_summary_that_stays_as_it_was_lost_nothing():
    after = SummaryState(BEFORE.longterm, recent(10, 20, "Ann sails."), 20, 3, NOON)
    found = summary_losses(compaction(BEFORE, after))
    assert {each.tier for each in found} == {Tier.RECENT}
    assert not summary_losses(made("Tom mends nets."))


def test_numbers_that_a_model_wrote_at_random_decide_nothing():
    summary = Summary(
        Tier.RECENT, 1, 9, "Ann sails on Thursday.", "a model", NOON, sources=((1, 2),)
    )
    lines = ("Ann will be gone by noon.", "The goat ate seven hats.")
    memories = [
        old_memory(n, NOON, MemoryKind.PERCEPTION, line) for n, line in enumerate(lines, start=1)
    ]
    found = losses(compaction(SummaryState(), SummaryState(None, summary, 9, 1, NOON)), memories)
    assert {each.memory.number: each.kept for each in found} == {1: Kept.SHORTER, 2: Kept.UNSURE}


@pytest.mark.parametrize(
    ("line", "summary", "kept"),
    [
        (
            "Does anybody know who made the copper kettle?",
            "Tom polished the copper kettle.",
            Kept.UNSURE,
        ),
        (
            "Does anybody know who made the copper kettle?",
            "Tom asked whether anybody knows of the copper kettle.",
            Kept.LIKELY,
        ),
        (
            "Come for plum cordial at noon.",
            "Ann pours plum cordial at noon.",
            Kept.UNSURE,
        ),
        (
            "Come for plum cordial at noon.",
            "Tom was sad. He asked for plum cordial at noon.",
            Kept.LIKELY,
        ),
    ],
)
def test_a_sentence_about_the_same_things_is_no_reason_to_think_that_it_tells_them(
    line, summary, kept
):
    memory = old_memory(1, NOON, MemoryKind.PERCEPTION, f'Tom says, "{line}"', source="Tom")
    (loss,) = losses(made(summary), [memory])
    assert loss.kept is kept


def test_what_others_told_is_a_greater_loss_than_own_words_and_deeds():
    lines = (
        ("Tom walks a long way along the muddy river to Harlen.", MemoryKind.PERCEPTION, "Tom"),
        ("say Mind the wet step by the cellar door, my dear.", MemoryKind.ACT, ""),
        ('Tom says, "My goat is ill."', MemoryKind.PERCEPTION, "Tom"),
    )
    memories = [
        old_memory(n, NOON, kind, line, source=source)
        for n, (line, kind, source) in enumerate(lines, start=1)
    ]
    found = losses(made("Ann sails on Thursday."), memories)
    assert [each.memory.number for each in found] == [3, 2, 1]


def test_names_and_figures_are_greater_losses_than_more_words():
    lines = (
        'Tom says, "The mud along the river is soft, deep, cold, black and very slippery."',
        'Tom says, "It drowned in 1962."',
        'Tom says, "My goat is called Liesbet. Have you seen Ann, Bram or Nell?"',
        'Tom says, "Tom is glad of Mira."',
        'Tom says, "Three or eleven of us are wet."',
    )
    memories = [
        old_memory(n, NOON, MemoryKind.PERCEPTION, line, source="Tom")
        for n, line in enumerate(lines, start=1)
    ]
    found = losses(made("Ann sails on Thursday."), memories, "Mira")
    named = {each.memory.number: each.named for each in found}
    assert named == {1: (), 2: ("1962",), 3: ("Liesbet",), 4: (), 5: ()}
    assert {each.memory.number for each in found[:2]} == {2, 3}


def test_what_another_memory_tells_too_is_not_called_lost():
    text = "Tom told Bram of Henk, who sang to the engine and never touched a lock gate."
    summary = Summary(Tier.RECENT, 1, 3, text, "a model", NOON, sources=((1,),))
    lines = (
        'Tom says, "Henk sang to the engine, and never touched a lock gate."',
        'Bram says, "Never a lock gate, and sang to the engine."',
        'Bram says, "The gate is wet."',
    )
    memories = [
        old_memory(n, NOON, MemoryKind.PERCEPTION, line, source=line.split()[0])
        for n, line in enumerate(lines, start=1)
    ]
    made_of = compaction(SummaryState(), SummaryState(None, summary, 3, 1, NOON))
    found = {each.memory.number: each for each in losses(made_of, memories)}
    assert [found[n].kept for n in (1, 2, 3)] == [Kept.SHORTER, Kept.UNSURE, Kept.GONE]
    assert found[2].told == text


def test_what_the_long_term_summary_tells_from_earlier_memories_is_not_called_lost():
    text = "Bram's oldest hive hums half a tone under the rest."
    lines = (
        'Bram says, "They keep one, all winter, low; the oldest hive half a tone below."',
        'Bram says, "The oldest of us sells apples and pears."',
    )
    memories = [
        old_memory(n, NOON, MemoryKind.PERCEPTION, line, source="Bram")
        for n, line in enumerate(lines, start=4)
    ]
    for sources in ((), ((2,),)):
        before = Summary(Tier.LONGTERM, 1, 3, text, "a model", NOON, sources=sources)
        state = SummaryState(before, recent(4, 5, "Ann sails on Thursday."), 5, 1, NOON)
        found = {
            each.memory.number: each for each in losses(compaction(SummaryState(), state), memories)
        }
        assert found[4].kept in (Kept.UNSURE, Kept.LIKELY)
        assert found[4].told == text
        assert found[5].kept is Kept.GONE


def test_promises_and_what_was_told_are_greater_losses_than_questions_and_sights():
    tom = Person("Tom", "t")
    whats = (
        Sight(source=tom, shown="Tom walks all along the muddy river to far Harlen."),
        Speech(speaker=tom, words="Who mended the blue door of the old mill?"),
        Deed(actor=tom, verb="give", objects=("a ring",), shown="Tom gives Nell a ring."),
        Speech(speaker=tom, words="My goat is ill."),
        Deed(actor=ME, verb=KnownVerb.PROMISE, objects=("a pie on Thursday by noon",)),
    )
    memories = [
        Memory(number=n, time=NOON, what=what, place="The Kettle")
        for n, what in enumerate(whats, 1)
    ]
    found = losses(made("Ann sails."), memories)
    numbers = [each.memory.number for each in found]
    assert ({*numbers[:2]}, numbers[2:]) == ({4, 5}, [2, 3, 1])


def test_a_name_that_was_told_once_is_a_greater_loss_than_one_that_others_tell_too():
    lines = (
        'Tom says, "I must just run up the hill for Ann."',
        'Tom says, "My brother was called Kees."',
        'Tom says, "Ann was here, and glad of the soup, the fire and the songs."',
        'Tom says, "The second hiding place is behind the salt cone."',
    )
    memories = [
        old_memory(n, NOON, MemoryKind.PERCEPTION, line, source="Tom")
        for n, line in enumerate(lines, start=1)
    ]
    found = losses(made("Bob sails on Thursday."), memories, "Mira")
    assert found[0].memory.number == 2
    # Of the others those with more rare words, the name aside.
    assert [each.memory.number for each in found[1:]][-1] == 1
