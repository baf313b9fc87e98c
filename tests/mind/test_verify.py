import itertools
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.records import MemoryKind, Tier
from keepsake.summaries.extractive import summarize
from keepsake.summaries.source import Draft, SummarySource
from keepsake.summaries.verification import SummaryVerdict, judge
from keepsake.summaries.writing import SummaryWriter
from tests.bench.talk import FACTS, NAME, talk

SOURCES = [
    'Tom says to you, "My sister Lisbet keeps bees at Corran Head."',
    'Ada says to you, "Never open the cellar door."',
    'Ada says to you, "I counted nineteen boats at the breakwater."',
    "~Mira> say I promise to keep the blue jar for you, Tom.",
    'Joss says to you, "The toll at Merrow Lock is four pennies now."',
    'Bram says to you, "The old mill burned down eleven years ago."',
]
GOOD = (
    "Tom told me that his sister Lisbet keeps bees at Corran Head, and I promised to keep the blue "
    "jar for him. Ada counted 19 boats, and I must never open the cellar door."
)
RULE = "Ada told you: never open the cellar door (memory 2)"
PROMISE = "You promised Tom: I will keep the blue jar for you (memory 4)"


def verdict(summary=GOOD, *, sources=SOURCES, window=(), must_keep=()) -> SummaryVerdict:
    summaries = [summary] if isinstance(summary, str) else summary
    return judge(
        summaries=summaries,
        sources=sources,
        visible=[*summaries, *window],
        must_keep=must_keep,
    )


def lines_of(seed: int, count: int, facts: int = 0) -> list[str]:
    """An evening at the inn as a summarizer reads it."""
    random = Random(seed)
    lived = list(itertools.islice(talk(random), count))
    for fact in random.sample(FACTS, facts):
        lived[random.randrange(count)] = fact.line
    return [f"~{NAME}> {x.text}" if x.kind is MemoryKind.ACT else x.text for x in lived]


# -- what must be kept


HEN = "Feed the hen before dawn"
BOTH = f"Never open the cellar door. {HEN}."
HARDLY = "Tom told me of Lisbet."


@pytest.mark.parametrize(
    ("summary", "window", "must_keep", "put_back"),
    [
        (GOOD, (), [RULE, PROMISE, "", "  "], ()),
        ("Tom came, and Ada; the jar is blue.", (), [PROMISE, RULE, HEN, RULE],
         (PROMISE, RULE, HEN)),
        *((HARDLY, [line], [RULE], ()) for line in (SOURCES[1], f"- {RULE}", RULE)),
        # The half of it without its "never" does not keep it.
        *((HARDLY, [line], [RULE], (RULE,)) for line in (
            "Open the cellar door.", "I opened the cellar door.", "never open the door")),
        (GOOD, (), [BOTH], (BOTH,)),
        (GOOD, ["I feed the hen before dawn."], [BOTH], ()),
        (GOOD, (), ["It is."], ("It is.",)),
        (GOOD, ["It is."], ["It is."], ()),
    ],
)  # fmt: skip
def test_what_is_lost_is_put_back_word_for_word_in_its_order(summary, window, must_keep, put_back):
    found = verdict(summary, window=window, must_keep=must_keep)
    assert found.put_back == put_back
    assert found.wanted == len({line for line in must_keep if line.strip()})
    assert summary != GOOD or found.good, "what is mended is no problem of the summary"


# -- names and numbers


def test_what_vanished_from_everything_visible_is_counted():
    found = verdict()
    # Merrow Lock, four, Joss, Bram and eleven are gone; Mira was only who spoke.
    assert found.vanished == 5
    assert found.details == 10
    assert verdict(window=["Joss, Bram: 11"]).vanished == 2


WAITS = GOOD + " I wait for Gareth."


@pytest.mark.parametrize(
    ("summary", "window", "must_keep", "invented"),
    [
        (GOOD + " Gareth said that twenty-two ships sail to Port Royal in July.", (), (),
         ("Gareth", "Port Royal", "July", "twenty-two")),
        ("Yesterday Tom came. Everybody laughed. Soup was served. However, Ada left. " + GOOD,
         (), (), ()),
        (GOOD.replace("19", "nineteen") + " The toll is 4 pennies.", (), (), ()),
        ("## Facts\n- Tom: Lisbet keeps bees at Corran Head (memory 1)\n\n## People\n\n"
         f"## Errors\n- {GOOD} (memory 4)", (), (), ()),
        (WAITS, (), (), ("Gareth",)),
        (WAITS, ['Gareth says, "Hm."'], (), ()),
        (WAITS, (), ["Tell Gareth nothing"], ()),
    ],
)  # fmt: skip
def test_invented_names_and_numbers_are_listed_as_they_are_written(
    summary, window, must_keep, invented
):
    assert verdict(summary, window=window, must_keep=must_keep).invented == invented


def test_a_summary_does_not_vouch_for_itself_however_it_is_shown():
    notes = f"## Facts\n- {GOOD} (memory 4)\n- I wait for Gareth. (memory 5)"
    shown = ["Facts:", f"- {GOOD} (memory 4)", "- I wait for Gareth. (memory 5)"]
    found = judge(summaries=[notes], sources=SOURCES, visible=shown, must_keep=[])
    assert found.invented == ("Gareth",)


# -- problems


@pytest.mark.parametrize(
    ("summary", "problem"),
    [
        ("", "is empty"),
        ("## Facts\n\n## People\n", "is empty"),
        ("I like Tom. " * 20, "repeats a sentence"),
        ("the the the the the the jar", "over and over"),
        ("Here is a summary of my day with Tom, Ada, Joss and Bram.", "being a summary"),
        ("Quantum computing advances rapidly nowadays.", "no word in common"),
        (f"{GOOD} " + " ".join(f"tale{i}" for i in range(99)), "longer than its source"),
        ("I had soup at the mill.", "0 of 10 names and numbers"),
        (
            GOOD + " Gareth met Olwen and Percy in Camelot, and forty knights of King Mark.",
            "names and numbers are invented",
        ),
        (GOOD.replace("must never", "may always"), "the opposite of: Ada told you: never open"),
    ],
)  # fmt: skip
def test_a_bad_summary_is_named(summary, problem):
    found = verdict(summary, must_keep=[RULE])
    assert not found.good
    assert any(problem in each for each in found.problems), found.problems


def test_one_line_for_a_whole_evening_is_too_little():
    lines = lines_of(3, 64)
    found = verdict("The door to the tower was open to the north.", sources=lines)
    assert any("44 characters for" in problem for problem in found.problems)


def test_what_was_told_the_other_way_round_may_be_kept_so():
    told = [*SOURCES, 'Tom says to you, "You may open the cellar door."']
    summary = GOOD.replace("I must never", "Tom said that I may")
    assert verdict(summary, sources=told, must_keep=[RULE]).good
    assert not verdict(summary, must_keep=[RULE]).good


def test_what_is_no_problem():
    assert verdict(GOOD + " Gareth said hello.").good, "one invented name is no tale"
    assert verdict([GOOD, ""]).problems == ("a summary is empty",), "each of two is checked"
    found = judge(summaries=[], sources=[], visible=[RULE], must_keep=[RULE])
    assert found == SummaryVerdict(wanted=1)


@pytest.mark.parametrize("count", [4, 8, 32, 64, 128])
@pytest.mark.parametrize("seed", range(4))
def test_extractive_summaries_are_good_and_invent_nothing(seed, count):
    lines = lines_of(seed, count, facts=count // 8)
    for space in (300, 1200):
        summary = summarize(lines, max_chars=space, own_name=NAME)
        found = verdict(summary, sources=lines)
        assert found.problems == ()
        assert found.invented == ()


@pytest.mark.parametrize(
    "written",
    [
        # What gemma-3-270m wrote for 6 to 64 memories; the first ones look like sentences.
        "The door to the tower was open to the north.",
        "1- I had a dream about an old mill.",
        '<i>Ruan says to you, "I walked from Aldermoor in six days."</i>',
        '<i>Ruan</i> says: "Strings of onions and drying thyme hang so low that a tall guest '
        'learns to bow."',
        "My friend, Bram, and I go to the beach to see the sunset, and I feel a feeling of joy, a "
        "feeling of contentment, and a feeling of peace. I also felt a sense of happiness that I "
        "had never experienced before.",
        "I'm a sailor in the war. I'm a surgeon in the war.",
        "It seems as if the memory is not dead, it is just being processed.",
        "Ada says to you, \"There's a stone under the door of a house. It is the name of the house "
        'in which I have been staying." Ada says to you, "My lucky number is twenty-two." Ruan '
        'says to you, "My lucky number is twenty-nine."',
        "_______________________________________________________________________",
        "<i>I</i> am,",
    ],
)
def test_what_a_very_small_model_writes_is_not_taken(written):
    assert not verdict(written, sources=lines_of(1, 48, facts=6)).good


# -- the record


def test_a_verdict_comes_back_from_its_record():
    found = verdict("So, Gareth came to Camelot.", must_keep=[RULE])
    assert found.put_back
    assert found.invented
    assert found.problems
    assert SummaryVerdict.from_record(found.to_record()) == found
    assert SummaryVerdict.from_record({}) == SummaryVerdict()


texts = st.lists(st.text(max_size=120), max_size=4)


@given(texts, texts, texts, texts)
def test_no_text_breaks_the_judge(summaries, sources, window, must_keep):
    found = judge(
        summaries=summaries, sources=sources, visible=[*summaries, *window], must_keep=must_keep
    )
    assert set(found.put_back) <= set(must_keep)
    assert 0 <= found.vanished <= found.details
    mended = judge(
        summaries=summaries,
        sources=sources,
        visible=[*summaries, *window, *found.put_back],
        must_keep=must_keep,
    )
    assert not [line for line in mended.put_back if any(map(str.isalnum, line))]


# -- beside the summary without a model


EVENING = [
    'Ann says to you, "I am Ann, a sailmaker from Harrow Bay. I\'m allergic to leeks."',
    *SOURCES,
    *lines_of(7, 34),
]


def written_by(text, lines, room=0):
    log: list[str] = []

    class Model:
        def summarize(self, source):
            return Draft(text, "a-model", calls=1)

    writer = SummaryWriter(Model(), False, (), (), log.append)
    source = SummarySource(Tier.RECENT, NAME, tuple(lines), limit_tokens=room)
    return writer.write(source).model, " ".join(log)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I was at the fire.", "characters for"),
        ("I'm allergic to leeks", "tells of Mira what Ann said"),
        ("Tom talked about his sister Lisbet of Corran Head, Ada about nineteen boats, and Joss "
         "and Bram sat with Wren; I was happy to have such friends around me.", "it keeps"),
    ],
)  # fmt: skip
def test_a_models_summary_that_keeps_less_or_swaps_is_refused(text, reason):
    model, log = written_by(text, EVENING)
    assert model == "extractive"
    assert reason in log


def test_a_rule_and_a_promise_must_be_told():
    text = (
        GOOD + " Joss told me that the toll at Merrow Lock is four pennies now. Bram told me that "
    )
    text += "the old mill burned down eleven years ago."
    assert written_by(text, SOURCES)[0] == "a-model"
    for lost in (", and I must never open the cellar door", ", and I promised to keep the blue jar "
                 "for him"):  # fmt: skip
        model, log = written_by(text.replace(lost, ""), SOURCES)
        assert (model, "it lost: " in log) == ("extractive", True)
    plain = [*SOURCES, 'Ann says to you, "I cannot eat leeks, they make me ill."']
    model, log = written_by(text, plain, room=600)
    assert (model, "it lost: Ann" in log) == ("extractive", True), "no number and no other's name"
    told = f"{text} Leeks make Ann ill, and she cannot eat them."
    assert written_by(told, plain, room=600)[0] == "a-model"


@pytest.mark.parametrize(
    "text",
    [
        # By several hands: plain, chatty, a list, quotes.
        "Tom's sister Lisbet keeps bees at Corran Head. Ada said never to open the cellar door; "
        "she counted nineteen boats at the breakwater. I promised to keep the blue jar for Tom. "
        "Joss says Merrow Lock costs 4 pennies now. Bram: the mill burned down eleven years ago.",
        "What an evening! I learned from Tom about his sister Lisbet and her bees at Corran Head, "
        "and promised him to keep the blue jar. Ada warned me never to open the cellar door and "
        "had counted 19 boats. The toll at Merrow Lock is four pennies, as Joss knows, and the "
        "mill burned down eleven years ago, as Bram told me.",
        "- Tom: sister Lisbet keeps bees at Corran Head\n- Ada: never open the cellar door; 19 "
        "boats\n- I promised Tom: keep the blue jar\n- Joss: toll at Merrow Lock is four pennies"
        "\n- Bram: old mill burned down eleven years ago",
    ],
)
def test_an_honest_summary_is_taken(text):
    assert written_by(text, SOURCES) == ("a-model", "")


def test_the_days_of_lines_are_neither_numbers_nor_names():
    dated = "\n".join(f"- {day} May: {each}." for day, each in enumerate(GOOD.split(". "), 21))
    found = verdict(dated, must_keep=[RULE, PROMISE, "Ada told you: wake me at 21 (memory 9)"])
    assert found.invented == ()
    assert found.put_back == ("Ada told you: wake me at 21 (memory 9)",)
