import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.summaries import sections
from keepsake.summaries.attribution import swapped
from keepsake.summaries.extractive import Text, summarize
from tests.bench.talk import NAME
from tests.mind.test_verify import lines_of

SOURCES = [
    'Ann says to you, "I am Ann, a sailmaker from Harrow Bay. I\'m allergic to leeks."',
    'Tom says to you, "My sister Lisbet keeps bees at Corran Head. '
    'I promise to bring you bread on Thursday."',
    'Ada says to you, "Never open the cellar door. I counted nineteen boats at the breakwater."',
    "~Mira> say I promise to keep the blue jar for you, Tom.",
    # The agent's own nonsense: what Ann is.
    "~Mira> say I am a sailmaker from Harrow Bay.",
    'Nell says to you, "Bram owes me seven crowns for the glass. '
    'I saw Tom by the weir with nine eels."',
    "Tom gives you a silver whistle.",
    'Ruan says to you, "I was born on the island of Skerrin, in a storm, and walked from '
    'Aldermoor in six days."',
    "~Mira> emote stirs the soup.",
]


@pytest.mark.parametrize(
    "summary",
    [
        "I'm allergic to leeks.",
        "I am a sailmaker from Harrow Bay.",
        "I am a sailmaker.",
        "I am Ann.",
        "My sister Lisbet keeps bees at Corran Head.",
        "Tom told me that he is a sailmaker from Harrow Bay.",
        "Tom is a sailmaker from Harrow Bay.",
        "Tom promised to keep the blue jar.",
        "I counted nineteen boats at the breakwater.",
        "Bram owes me seven crowns for the glass.",
        'Ada told me, "My sister Lisbet keeps bees at Corran Head."',
        "- Tom: I was born on the island of Skerrin, in a storm.",
        '- 4 May: I said, "I was born on the island of Skerrin."',
        "I promised Tom to bring bread on Thursday.",
        "I told Ann that I am a sailmaker from Harrow Bay.",
        "Ann walked from Aldermoor in six days.",
        "It rained. I met Tom and I was born on Skerrin in a storm.",
        "## People\n- Tom: I'm allergic to leeks (memory 1)",
    ],
)
def test_anothers_life_is_not_told_as_ones_own_or_as_a_thirds(summary):
    assert swapped(summary, SOURCES, "Mira")


@pytest.mark.parametrize(
    "summary",
    [
        "Ann told me she is a sailmaker from Harrow Bay and is allergic to leeks.",
        "Tom told me that his sister Lisbet keeps bees at Corran Head, and I promised to keep the "
        "blue jar for him. Ada counted 19 boats, and I must never open the cellar door.",
        "I met Ann, a sailmaker from Harrow Bay, and learned from Tom that his sister has bees.",
        "I met Tom whose sister Lisbet keeps bees at Corran Head.",
        "Tom gave me a silver whistle and promised me bread on Thursday.",
        "Bram owes Nell seven crowns for the glass.",
        "Nell told me that Bram owes her seven crowns.",
        "Tom was by the weir with nine eels.",
        "I stirred the soup. I keep a blue jar for Tom. I have a silver whistle from Tom.",
        "I heard Ruan was born on Skerrin in a storm.",
        "Ruan, born on Skerrin in a storm, walked from Aldermoor in six days.",
        '- 4 May: Ann told me, "I am Ann, a sailmaker from Harrow Bay."\n'
        '- 4 May: I said, "I promise to keep the blue jar for you, Tom."',
        "I must never open the cellar door. I know Ann cannot eat leeks.",
        "## People\n- Ann: sailmaker from Harrow Bay (memory 1)\n\n## Open matters\n"
        "- I said: I promise to keep the blue jar for you, Tom. (memory 4)",
        "I spoke with Tom about his sister Lisbet and her bees at Corran Head.",
        "Tom's sister Lisbet keeps bees at Corran Head.",
        "Ann is a sailmaker. She is from Harrow Bay.",
        "I was told by Ann that she is allergic to leeks.",
        "I promised Tom the blue jar; he wants to bring me bread on Thursday.",
    ],
)
def test_an_honest_summary_is_none_however_it_is_phrased(summary):
    assert swapped(summary, SOURCES, "Mira") == ()


def test_a_swap_says_whose_words_they_are():
    (found,) = swapped("I'm allergic to leeks.", SOURCES, "Mira")
    assert found == "tells of Mira what Ann said: I'm allergic to leeks."


def test_what_an_older_summary_tells_is_known_too():
    older = ['- 4 May: Ann told me, "I am a sailmaker from Harrow Bay."\n- I get a chisel.']
    assert swapped("I am a sailmaker from Harrow Bay.", older, "Mira")
    assert not swapped("Ann is a sailmaker from Harrow Bay. I got a chisel.", older, "Mira")


@pytest.mark.parametrize("count", [8, 64, 128])
@pytest.mark.parametrize("seed", range(3))
def test_extracts_swap_nobody(seed, count):
    lines = lines_of(seed, count, facts=count // 8)
    text = summarize([Text(x, 0, "4 May") for x in lines], max_chars=1200, own_name=NAME)
    assert swapped(text, lines, NAME) == ()
    again = summarize(sections.plain(text), max_chars=2400, own_name=NAME)
    assert again == text


@given(st.text(max_size=200), st.lists(st.text(max_size=80), max_size=4))
def test_no_text_breaks_it(summary, sources):
    swapped(summary, sources, "Mira")
