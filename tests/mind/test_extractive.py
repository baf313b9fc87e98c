import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.summaries import sections
from keepsake.summaries.extractive import Text, summarize
from keepsake.summaries.retelling import join, retell

NOISE = [
    "The Mill. A mill by the slow river. Exits: north, south. You see: a brass lamp.",
    'Tom says, "Good morning, Mira!"',
    "~Mira> say Good morning, Tom!",
    "You tried to go up: there is no such exit. Exits: north, south",
    "Tom arrives from the north.",
    "Anna leaves to the south.",
    "~Mira> look",
    "~Mira> wait",
    'Anna says, "Well, what do you think about that?"',
    'Tom says, "I do not know, really."',
    "~Mira> emote smiles at Tom.",
]
FACTS = [
    ('Tom says, "My sister Agnes keeps 14 beehives in Brindle."', ["Agnes", "14", "Brindle"]),
    ('Anna says, "The key to the chapel lies under the blue stone."', ["chapel", "blue stone"]),
    ("~Mira> say I promise to bring you rye bread on Thursday.", ["rye bread", "Thursday"]),
    ("Tom gives you a silver whistle.", ["silver whistle"]),
    ('Joren whispers to you, "The smith owes me forty crowns."', ["smith", "forty crowns"]),
    ('Anna says, "I was born in Vessany, the year of the flood."', ["Vessany", "flood"]),
]


def lives(count, seed):
    rng = random.Random(seed)
    lines = [rng.choice(NOISE) for _ in range(count)]
    for fact, _ in FACTS:
        lines.insert(rng.randrange(len(lines)), fact)
    return lines


@pytest.mark.parametrize("seed", range(5))
def test_planted_facts_are_kept_where_random_lines_lose_them(seed):
    lines = lives(120, seed)
    details = [detail for _, found in FACTS for detail in found]
    summary = summarize(lines, max_chars=700, own_name="Mira")
    assert sum(detail in summary for detail in details) == len(details)
    picked = " ".join(random.Random(seed).sample(lines, 12))
    assert sum(detail in picked for detail in details) < len(details) / 2


def test_facts_survive_many_cycles():
    longterm = ""
    for cycle in range(8):
        recent = summarize(lives(64, cycle), max_chars=700, own_name="Mira")
        older = [*longterm.splitlines(), *recent.splitlines()]
        longterm = summarize(older, max_chars=1200, own_name="Mira")
    assert "Agnes keeps 14 beehives in Brindle" in longterm
    assert "I promise to bring you rye bread on Thursday" in longterm


def test_sentences_stand_in_order_of_time_and_in_the_first_person():
    lines = [
        'Tom says, "The old bridge at Carrow fell in March."',
        "~Mira> say I will ask the mason Bertil. | he may know",
        "You get a rusty chisel.",
        "~Mira> whisper Anna = Bertil hides 300 crowns.",
        "~Mira> go north",
        "~Mira> emote hums a tune from Arden.",
    ]
    assert summarize(lines, max_chars=1000, own_name="Mira") == (
        '- Tom said, "The old bridge at Carrow fell in March."\n'
        '- I said, "I will ask the mason Bertil."\n'
        "- I get a rusty chisel.\n"
        '- I whispered to Anna, "Bertil hides 300 crowns."\n'
        "- I went north.\n"
        "- I hum a tune from Arden."
    )
    told = retell('Tom says, "It rains. The river is high."', "Mira")
    assert join(told) == 'Tom said, "It rains. The river is high."'
    assert retell(join(told), "Mira") == told


def test_uses_of_the_own_memory_are_not_told_again():
    lived = [
        'Tom says to you, "I lost a silver cup in Ostrey."',
        "~Mira> note cup: Tom lost a golden goblet in Ostrey. | so that I know",
        "Kept as your note 'cup'",
        "~Mira> recall the golden goblet",
        "You recall: memory 7 [1 May 2026, 12:00] Joss: The golden goblet lies in Withy.",
        "~Mira> pin Tom owes me six golden pence.",
        "Pinned: Tom owes me six golden pence. (30 of 1,200 characters used)",
        "You tried to forget goblet: There is no note called 'goblet'. There are none yet",
        "~Mira> say I will look for it at the boathouse.",
        "You tried to pinch the goose: there is no such command.",
    ]
    summary = summarize(lived, max_chars=600, own_name="Mira")
    assert "silver cup" in summary
    assert "boathouse" in summary
    assert "goose" in summary
    for word in ("gold", "Pinned", "recall", "Kept", "forget", "pin "):
        assert word not in summary
    assert summarize(lived[1:3], max_chars=600, own_name="Mira"), "better than an empty summary"


def test_something_is_kept_of_memories_that_tell_nothing():
    assert summarize(["Hi.", "And you?"], max_chars=100, own_name="Mira") == "- And you?"
    assert summarize([], max_chars=100, own_name="Mira") == ""
    assert summarize(["...", ""], max_chars=100, own_name="Mira") in ("", "- ....", "- ...")


@given(
    st.lists(st.sampled_from(NOISE + [f for f, _ in FACTS]) | st.text(max_size=80), max_size=20),
    st.integers(5, 400),
)
def test_it_keeps_to_its_size_and_is_the_same_each_time(lines, size):
    summary = summarize(lines, max_chars=size, own_name="Mira")
    assert len(summary) <= size
    assert all(line.startswith("- ") for line in summary.splitlines())
    assert summarize(lines, max_chars=size, own_name="Mira") == summary


RULE = 'Ada says to you, "Never let the goose into the loft."'
PROMISE = "~Mira> say I promise to keep the jar for you, Tom."


def test_what_binds_outweighs_what_is_new_and_nobody_fills_a_summary_with_rules():
    news = [f'Joss says, "Ship {n} of Harl{n} brought {n} casks of wine{n}."' for n in range(60)]
    summary = summarize([RULE, PROMISE, *news], max_chars=500, own_name="Mira")
    assert "Never let the goose into the loft" in summary
    assert "I promise to keep the jar for you, Tom" in summary
    flood = [f'Tom says to you, "Never sell barrel{n} to Harl{n}."' for n in range(200)]
    others = 'Ada says to you, "My brother Edric sails on the Grey Gull of Merrow."'
    assert "Edric" in summarize([*flood, others], max_chars=900, own_name="Mira")


# -- lines


ANN = 'Ann says to you, "I am Ann, a sailmaker from Harrow Bay."'


def test_a_line_says_when_and_who_told_whom_and_stays_as_it_is():
    texts = [
        Text(ANN, 0, "4 May"),
        Text('Tom says to you, "Have you seen the ferry of Harl? It had 9 sheep."', 0, "4 May"),
        Text("~Mira> say I promise to wake you at five, Ada.", 0, "5 May"),
    ]
    first = summarize(texts, max_chars=900, own_name="Mira")
    assert first.splitlines() == [
        '- 4 May: Ann told me, "I am Ann, a sailmaker from Harrow Bay."',
        '- Tom asked me, "Have you seen the ferry of Harl?"',
        '- Tom told me, "It had 9 sheep."',
        '- 5 May: I said, "I promise to wake you at five, Ada."',
    ]
    for _ in range(4):
        assert summarize(sections.plain(first), max_chars=900, own_name="Mira") == first
    lines = ['Tom says, "The weir of Harl broke."', 'Tom says, "Bram has forty eels."']
    apart = summarize(lines, max_chars=400, own_name="Mira")
    assert apart.count("Tom said") == 2, "what was said at different moments"


def test_no_number_of_a_memory_stands_as_prose():
    older = (
        "Ada told me: never open the cellar. (memory 48). (memory 50). I sold nine eels to Bram "
        "(memory 51). The weir broke (repeated 2×)."
    )
    summary = summarize([older], max_chars=900, own_name="Mira")
    assert "memory" not in summary
    assert "repeated" not in summary
    assert "never open the cellar" in summary
    assert "nine eels" in summary


@pytest.mark.parametrize("older", [[ANN], ['- 4 May: Ann told me, "I am Ann, of Harrow Bay."']])
def test_own_nonsense_never_takes_the_place_of_what_was_told(older):
    own = "~Mira> say I am a sailmaker from Harrow Bay."
    for lines in ([own, *older], [*older, own]):
        summary = summarize(lines, max_chars=70, own_name="Mira")
        assert "I am Ann" in summary
        assert "I said" not in summarize(lines, max_chars=900, own_name="Mira")


def test_own_promises_and_own_facts_still_count():
    lines = [
        'Tom says to you, "Bring the blue jar to the ferry on Thursday, will you?"',
        "~Mira> say I will bring you the blue jar to the ferry on Thursday, Tom.",
        "~Mira> say The key of the chapel hangs behind the clock.",
    ]
    summary = summarize(lines, max_chars=900, own_name="Mira")
    assert "I will bring you the blue jar" in summary
    assert "behind the clock" in summary


def test_a_paragraph_of_an_older_version_becomes_lines():
    older = 'Tom said to me, "My sister has 14 hives." I said, "I promise to bring you rye, Tom."'
    assert sections.shown(older) == (older,)
    assert summarize(sections.plain(older), max_chars=900, own_name="Mira").splitlines() == [
        '- Tom told me, "My sister has 14 hives."',
        '- I said, "I promise to bring you rye, Tom."',
    ]
