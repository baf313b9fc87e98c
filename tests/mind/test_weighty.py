"""What mattered, found again by its words; and nobody fills a summary with their own."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.records import Tier
from keepsake.compaction import key_memories
from keepsake.compaction.key_memories import KeyMemory, SentenceMatcher, counting, named
from keepsake.errors import ModelUnavailable
from keepsake.paths import REPOSITORY
from keepsake.ports import Generation
from keepsake.summaries import extractive
from keepsake.summaries.extractive import Text
from keepsake.summaries.retelling import ToldSentence, retell
from keepsake.summaries.source import SummarySource
from keepsake.summaries.strategy import NARRATIVE, Strategies
from keepsake.summaries.summarizer import ExtractiveSummarizer, ModelSummarizer
from tests.mind.lives import STRUCTURED

CUP = KeyMemory(17, 'Tom says to you, "The blue cup is yours. Keep it from the cat."', 8)
WORD = KeyMemory(21, "~Mira> say I promise to mend your net, Ada. | she saved me", 9)
GIFT = KeyMemory(30, "Tom gives you a rose.", 7)
SMALL = [
    'Wren says to you, "The ferry was late again at Corran, with nine sheep on it."',
    'Joss says to you, "Bram wants forty nails for the mill at Harl and two barrels."',
    'Nell says to you, "Ruan saw seven lanterns by the quarry, and a heron."',
    'Ada says to you, "There is a fair in Fenwick with twelve puppets and a bear."',
]


def found(*each):
    return SentenceMatcher(each or (CUP, WORD, GIFT), "Mira")


@pytest.mark.parametrize(
    ("sentence", "counts"),
    [
        ('Tom said to me, "The blue cup is yours."', 8),
        ('Tom said, "Keep it from the cat."', 8),
        ('I said, "I promise to mend your net, Ada."', 9),
        ("I promised Ada to mend her net.", 9),
        ("Tom gives me a rose.", 7),
        ("Tom trims the rose by the gate with his old knife.", 0),
        ("The cat sleeps on the net.", 0),
        ("Tom arrives.", 0),
        ("", 0),
    ],
)
def test_a_sentence_is_known_by_the_words_it_shares(sentence, counts):
    told = retell(sentence, "Mira") or [ToldSentence("")]
    assert max(found().importance_of(each) for each in told) == counts


def test_the_number_that_a_note_has_settles_it():
    mine = found()
    assert mine.importance_of(ToldSentence("Tom: something else."), 17) == 8
    assert mine.importance_of(ToldSentence("The blue cup is yours.", "Tom said"), 99) == 8
    assert mine.importance_of(ToldSentence("Tom: something else."), 99) == 0


def test_which_memories_a_summary_still_tells():
    prose = 'Wren yawned. Tom said to me, "The blue cup is yours." The rain went on.'
    notes = "## Facts\n- Ada: a net (memory 21)\n- the rose that Tom gives me (memory 30)"
    assert found().numbers_in(prose, "Mira") == (17,)
    assert found().numbers_in(notes, "Mira") == (21, 30)
    assert found().numbers_in("- nothing (memory 999)", "Mira") == ()
    assert found().numbers_in("", "Mira") == ()


@given(st.lists(st.tuples(st.sampled_from(["Tom said", "I said", ""]), st.integers(0, 10))))
def test_of_one_speaker_only_what_matters_most_counts_for_more(said):
    told = [ToldSentence("Words.", speaker) for speaker, _ in said]
    scores = [score for _, score in said]
    factors = counting(told, scores)
    assert all(factor >= 1 for factor in factors)
    for speaker in ("Tom said", "I said", ""):
        mine = [i for i, each in enumerate(told) if each.speaker == speaker]
        more = [i for i in mine if factors[i] > 1]
        matter = [i for i in mine if scores[i] >= key_memories.MATTERS]
        assert len(more) == min(len(matter), key_memories.MOST_COUNTING)
        rest = [scores[i] for i in matter if i not in more]
        assert not rest or max(rest) <= min(scores[i] for i in more)


def test_nothing_counts_for_more_where_nobody_judged():
    assert counting([ToldSentence("a"), ToldSentence("b")], []) == [1.0, 1.0]
    assert counting([ToldSentence("a"), ToldSentence("b")], [9]) == [1.0, 1.0]


def test_plain_words_that_matter_win_over_words_that_tell_more():
    plain = 'Tom says to you, "You may have it, and keep it as well."'
    lines = [*SMALL, plain]
    assert "keep it as well" not in extractive.summarize(lines, max_chars=200, own_name="Mira")
    scored = [Text(line, 8 if line == plain else 2) for line in lines]
    judged = extractive.summarize(scored, max_chars=200, own_name="Mira")
    assert "keep it as well" in judged
    assert len(judged) <= 200


def test_a_greeting_stays_one_whatever_it_comes_with():
    both = retell('Tom says to you, "Good evening to you! My bed is yours, use it."', "Mira")
    told = [*both, *(each for line in SMALL for each in retell(line, "Mira"))]
    ranked = extractive.ranking(told, "Mira", 2000, [9, 9, *[2] * len(SMALL)])
    assert ranked[0] == 1
    assert ranked[-1] == 0


def test_one_person_does_not_push_out_the_others_by_having_all_matter():
    lines = [*SMALL]
    rng = random.Random(3)
    names = ["Ostrow", "Pell", "Quill", "Rask", "Sorrel", "Thane", "Umber", "Vane", "Wick"]
    for number, name in enumerate(names):
        lines.insert(
            rng.randrange(len(lines)),
            f'Rook says to you, "I promise you {number + 40} crowns from {name}, on my life!"',
        )
    scored = [Text(line, 9 if line.startswith("Rook") else 2) for line in lines]
    text = extractive.summarize(scored, max_chars=600, own_name="Mira")
    assert sum(key in text for key in ("ferry", "nails", "lanterns", "fair")) >= 2


def source(way, lines, **more):
    return SummarySource(Tier.RECENT, "Mira", tuple(lines), strategy=way, **more)


@pytest.mark.parametrize("way", [NARRATIVE, STRUCTURED])
def test_what_mattered_stays_when_an_older_summary_is_summarised_again(way):
    plain = 'Tom says to you, "The wool is yours, you may spin it then."'
    older = " ".join(line.replace("says to you", "said to me") for line in (*SMALL, plain))
    without = ExtractiveSummarizer().summarize(source(way, [older], limit_tokens=60))
    assert "wool" not in without.text
    judged = source(way, [older], limit_tokens=60, weighty=(KeyMemory(17, plain, 9),))
    assert "The wool is yours" in ExtractiveSummarizer().summarize(judged).text


@pytest.mark.parametrize("way", [NARRATIVE, STRUCTURED])
def test_importance_stands_beside_its_line_though_private_ones_are_left_out(way):
    lines = [
        "~Mira> recall nets",
        "You recall: memory 3 [1 May]: Ada mended Tobias Marl's nine nets at Corran in June",
        *SMALL,
        'Tom says to you, "Well, the wool is yours, you may spin it then."',
    ]
    scores = [9, 9, 2, 2, 2, 2, 8]
    judged = source(
        way, lines, numbers=tuple(range(1, 8)), importance=tuple(scores), limit_tokens=70
    )
    text = ExtractiveSummarizer().summarize(judged).text
    assert "the wool is yours" in text
    assert "Tobias" not in text


def test_a_model_is_shown_what_mattered_in_every_part():
    prompts: list[str] = []

    def generate(prompt, stop):
        prompts.append(prompt)
        # Something of what was shown.
        text = prompt.partition("- ")[2].partition("\n")[0]
        return Generation(
            text=text,
            finish_reason="stop",
            prompt_tokens=9,
            cached_tokens=0,
            completion_tokens=9,
            seconds=0.1,
            model="m",
        )

    small = [f'Odo{n} says, "Cask {n} of wine{n} went to Harl{n} by cart{n}."' for n in range(24)]
    lines = [CUP.line, *small, WORD.line]
    scores = (8, *[2] * 24, 9)
    ModelSummarizer(generate, context_tokens=300).summarize(
        source(NARRATIVE, lines, importance=scores, limit_tokens=900)
    )
    assert len(prompts) > 1
    marked = [prompt.partition("# What mattered")[2] for prompt in prompts]
    assert '- Tom said to me, "The blue cup is yours. Keep it from the cat."\n' in marked[0]
    assert '- I said, "I promise to mend your net, Ada."\n' in marked[-1]
    assert "she saved me" not in "".join(prompts)
    assert not any(marked[1:-1])


def test_a_model_that_writes_notes_is_told_the_numbers():
    prompts: list[str] = []

    def generate(prompt, stop):
        prompts.append(prompt)
        raise ModelUnavailable("gone")

    way = Strategies(REPOSITORY / "vault" / "config" / "compaction").get("structured")
    lines, numbers = [*SMALL, CUP.line], (1, 2, 3, 4, 17)
    judged = source(way, lines, numbers=numbers, importance=(2, 2, 2, 2, 8))
    with pytest.raises(ModelUnavailable):
        ModelSummarizer(generate).summarize(judged)
    assert "from the notes:\n- memory 17\n" in prompts[0]


def test_what_a_model_is_told_of_is_little_and_of_nobody_much():
    lines = [f'Rook says to you, "I promise you crown {n}, Mira!"' for n in range(9)]
    lines += [f'Ada{n} says to you, "I promise you crown {n}, Mira!"' for n in range(9)]
    told = named(lines, lambda position, _: 9, "Mira")
    assert len(told) == key_memories.MOST_NAMED
    assert [at for at, _ in told] == sorted(at for at, _ in told)
    assert sum("Rook" in words for _, words in told) <= key_memories.MOST_NAMED_OF_ONE
    only = named(lines[:9], lambda position, _: 9, "Mira")
    assert len(only) == key_memories.MOST_NAMED_OF_ONE
    long = named([f'Tom says, "{"very " * 200}long."'], lambda position, _: 9, "Mira")
    assert len(long[0][1]) <= key_memories.LONGEST_NAMED
