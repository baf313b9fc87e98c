"""Which sentences bear on a question, with the real embedder."""

import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.records import Memory, MemoryKind
from keepsake.models.clients.minilm import MiniLMEmbedder
from keepsake.paths import REPOSITORY
from keepsake.prompt.reply.by_itself import from_memory
from keepsake.prompt.reply.context import ReplyContext
from keepsake.prompt.reply.material import (
    Sentence,
    SentenceOrigin,
    of_memory,
    of_place,
    of_profile,
)
from keepsake.prompt.reply.worth import (
    AS_GOOD,
    Ranker,
    asks_leave,
    is_of_same,
    leans,
    without_address,
)

CHANGES = REPOSITORY / "tests" / "data" / "changes.yaml"
OWN = of_profile(
    "You are Jory, tanner in Harl. Your old dog is called Sprat. You live above the tannery with "
    "your daughter Wenna, who plays the fiddle."
)


def told(who, words, partner="Ann"):
    origin = SentenceOrigin.PARTNER if who == partner else SentenceOrigin.OTHER
    return Sentence(f'{who} told me, "{words}"', words, origin, who)


TOLD = (
    told("Ann", "I mend sails in Merrow, and I've never been this far inland."),
    told("Ann", "And I'm the miller's cousin. I cannot eat eggs, they make me ill."),
    told("Tobin", "I grow roses in Dorset now, prize ones."),
    told("Tobin", "There was a heron by the ditch, as still as a post."),
)


@pytest.fixture(scope="module")
def ranker():
    with_meaning = MiniLMEmbedder(1)
    yield Ranker(with_meaning)
    with_meaning.close()


@pytest.mark.parametrize(
    ("question", "before", "wanted"),
    [
        ("Would you offer me an omelette, Jory?", "", "eggs"),  # one clause of two says it
        ("Jory, what does your daughter play?", "", "fiddle"),
        ("In which county, do you recall?", "What is it that Tobin grows?", "Dorset"),
        ("And her name?", "Do you have a daughter?", "Wenna"),
        ("What is your dog called?", "What does Tobin grow?", "Sprat"),
        ("What should I call you?", "", "Jory"),
        ("Who are you?", "", "Jory"),
        ("Who are you living with?", "", "Wenna"),
        ("Whom have I the honour of addressing?", "", "Jory"),
        ("I hear that you have a daughter. What does she play?", "", "fiddle"),
        ("What's your dog's name?", "", "Sprat"),
    ],
)
def test_what_answers_comes_first(ranker, question, before, wanted):
    best = ranker.rank(question, [*OWN, *TOLD], before, "Jory")[0]
    assert wanted in best.sentence.text


def test_what_was_told_the_agent_itself_counts_more_than_what_it_overheard(ranker):
    twice = (told("Tobin", "I grow roses in Dorset."), told("Tobin", "I grow roses in Devon."))
    found = [twice[0], replace(twice[1], overheard=True)]
    for each in (found, found[::-1]):
        best = ranker.rank("Where does Tobin grow roses?", each, "", "Jory")[0]
        assert "Dorset" in best.sentence.text


def test_that_somebody_is_there_answers_no_question_of_their_life(ranker):
    found = [*OWN, *TOLD, *of_place("A low room.", ["Ann", "Tobin"])]
    found.append(told("Tobin", "And I'm Tobin, her cousin. I mend roofs."))
    asked = "How are those two related, Ann and Tobin?"
    assert "cousin" in ranker.rank(asked, found, "", "Jory")[0].sentence.text
    best = ranker.rank("Is Ann here?", found, "", "Jory")[0]
    assert "here with me" in best.sentence.text


@pytest.mark.parametrize(
    "question",
    ["Who is here?", "Who else is around tonight?", "Is anybody with you?", "Are you alone?"],
)
def test_who_asks_who_is_there_is_told(ranker, question):
    for company, named in ((["Ann", "Tobin"], "Ann and Tobin are here"), ([], "but you and me")):
        found = [*OWN, *TOLD, *of_place("A low room.", company)]
        assert named in ranker.rank(question, found, "", "Jory")[0].sentence.text


def test_the_ways_out_are_told_to_who_asks_for_them(ranker):
    found = [*OWN, *of_place("A low room.", [], "The Glasshouse", ["out"])]
    best = ranker.rank("Which way is it out of the glasshouse?", found, "", "Jory")[0]
    assert "The ways out" in best.sentence.text
    best = ranker.rank("Who taught you all this? Glass, I mean.", found, "", "Jory")[0]
    assert "The ways out" not in best.sentence.text


def test_what_somebody_has_said_since_of_the_same_takes_its_place(ranker):
    first = told("Ann", "I'm at the laundry by the river, six days out of seven.")
    since = told("Ann", "Three weeks I've been at the hat shop now, six days out of seven.")
    other = told("Ann", "There's a cat in the house now! Biscuit they call her.")
    later = [replace(each, time=datetime(2026, 3, 1, tzinfo=UTC)) for each in (since, other)]
    ranked = ranker.rank("Where do I spend my working days?", [first, *later], "", "Jory")
    assert [each.sentence.bare for each in ranked] == [since.bare, first.bare, other.bare]
    assert ranked[1].worth < ranked[0].worth


def told_in_turn(*lines):
    """What people told, a day after each other."""
    return [
        replace(told(who, words), time=datetime(2026, 3, day, tzinfo=UTC))
        for day, (who, words) in enumerate(lines, start=1)
    ]


LOOM = told_in_turn(
    ("Ann", "My loom stands in the cellar of the mill."),
    ("Ann", "I have two dogs, Fip and Mott."),
    ("Tobin", "It is warm in the barn."),
    ("Ann", "It's in the old barn now."),
)


def test_what_hardly_says_of_what_it_is_stands_beside_what_it_may_have_changed(ranker):
    best, beside, *others = ranker.rank("Where is my loom?", LOOM, "", "Jory")
    assert (best.sentence, beside.sentence) == (LOOM[0], LOOM[3])
    assert beside.worth == AS_GOOD * best.worth > max(each.worth for each in others)
    best, beside, *_ = ranker.rank("Where is my loom?", LOOM[:3], "", "Jory")
    assert beside.worth < AS_GOOD * best.worth, "nothing has been said of it since"


def test_both_are_said_in_the_order_in_which_they_were_told(ranker):
    asked = "Where is my loom?"
    plainly = told_in_turn(
        ("Ann", LOOM[0].bare), ("Ann", "Guess what, I've moved the loom to the old barn.")
    )
    for found, later in ((LOOM, "it's in the old barn now."), (plainly, "you've moved the loom")):
        ranked = tuple(ranker.rank(asked, found, "", "Jory"))
        scene = ReplyContext("Jory", "", "The Tannery", "Ann", (asked,), ranked=ranked)
        said = from_memory(scene, [])
        assert said.startswith("Your loom stands in the cellar of the mill. And later: ")
        assert later in said


def test_whoever_is_named_is_asked_for_in_place_of_others(ranker):
    found = told_in_turn(
        ("Ann", "Ten shillings rent, each month, for a room with a view of a wall."),
        ("Tobin", "Mine has gone up to fifteen shillings. I'm not paying it."),
    )
    for who, wanted in (("Ann", "Ten"), ("Tobin", "fifteen")):
        best = ranker.rank(f"How much rent does {who} pay?", found, "", "Jory")[0]
        assert wanted in best.sentence.bare


def answered(ranker, item):
    """What the memory says by itself to a question of ``tests/data/changes.yaml``."""
    found = []
    for number, (who, words) in enumerate(item["told"], start=1):
        time = datetime(2026, 3, number, tzinfo=UTC)
        line = f'{who} says to you, "{words}"'
        memory = Memory(number, time, MemoryKind.PERCEPTION, line, source=who, event="talk")
        found += of_memory(memory, item["asker"])
    asked = item["question"]
    ranked = tuple(ranker.rank(asked, found, "", "Odo"))
    return from_memory(ReplyContext("Odo", "", "Inn", item["asker"], (asked,), ranked=ranked), [])


def test_what_has_changed_is_told_and_what_only_seems_to_is_too(ranker):
    """How many of 70 and 50: no bench, since it hangs on no machine, and no answer is a must."""
    items = yaml.safe_load(CHANGES.read_text(encoding="utf-8"))
    right = Counter(
        item["kind"] for item in items if re.search(item["right"], answered(ranker, item), re.I)
    )
    assert right["changed"] >= 54
    assert right["same"] >= 42


def test_what_is_said_of_another_number_or_name_takes_no_place(ranker):
    def asked(question, *lines):
        found = [
            replace(told("Ann", line), time=datetime(2026, 3, day, tzinfo=UTC))
            for day, line in enumerate(lines, start=1)
        ]
        return ranker.rank(question, found, "", "Jory")

    rooms = [f"Room {number} of my house is {of}." for number, of in ((12, "red"), (15, "green"))]
    assert "red" in asked("What colour is room 12 of my house?", *rooms)[0].sentence.bare
    markets = ("The market in Orle is on Monday.", "The market in Thorle is on Friday.")
    best, other = asked("When is the market in Orle?", *markets)
    assert "Monday" in best.sentence.bare
    assert not is_of_same("When is the market in Orle?", best, other)


def test_what_led_to_a_question_is_no_answer_to_the_next(ranker):
    """Played: "how many, roughly?" got "Your boy wants a puppy."."""
    asked = "My boy wants a puppy. Are there any to be had round here?"
    lead = replace(told("Ann", "My boy wants a puppy."), aside=True)
    news = told("Tobin", "There's another five of them coming, by the look of her, the old bitch.")
    best = ranker.rank("how many, roughly?", [lead, news, *OWN], asked, "Jory")[0]
    assert "another five" in best.sentence.text
    best = ranker.rank("Who wants a puppy?", [lead, news, *OWN], "", "Jory")[0]
    assert "My boy" in best.sentence.text, "told it was all the same"


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Brr! What a night. May I come in?", True),
        ("Can we sit here?", True),
        ("So could I just look around?", True),
        ("um, is it all right if I just stand here a bit?", True),
        ("Do you mind if we sat here?", True),
        ("What should I wear to the fair?", False),
        ("May I burn your house down?", False),
        ("Can I take your money?", False),
        ("Could I be ill?", False),
        ("Where can I stay?", False),
    ],
)
def test_who_asks_if_they_may_be_there(question, asks):
    assert asks_leave(question) == asks


def test_where_no_embedder_answers_the_words_do_and_a_name_is_none():
    found = [told("Tobin", "I like cheese."), told("Tobin", "I grow roses in Dorset.")]
    best, other = Ranker(None).rank("Who grows roses in Dorset?", found, "", "Jory")
    assert "roses" in best.sentence.bare
    assert best.worth > 0.4 > other.worth
    assert Ranker(None).rank("Where is Tobin?", found, "", "Jory")[0].worth < 0.25


@pytest.mark.parametrize(
    ("question", "wanted", "other"),
    [
        ("When is the wedding?", "I'll be married at midwinter.", "I sew for the bride."),
        ("How many hens have you?", "The hens are four bantams.", "The hens lay well."),
        ("Who mends watches here?", "Oswin looks after the clocks.", "The clocks are all slow."),
        ("Where did you grow up?", "I was born in Valparaiso.", "I grew dwarf wheat."),
    ],
)
def test_what_has_the_kind_of_thing_that_is_asked_for_comes_first(ranker, question, wanted, other):
    found = [told("Ann", other), told("Tobin", wanted)]
    for each in (found, found[::-1]):
        assert ranker.rank(question, each, "", "Jory")[0].sentence.bare == wanted


def test_what_was_cut_where_it_was_kept_gives_way_to_the_whole(ranker):
    whole = told("Ann", "She took no cent for it. She took a jar of pickled onions.")
    cut = told("Ann", "She took no cent for it. She took a jar of pickled…")
    found = ranker.rank("What did she take?", [cut, whole], "", "Jory")
    assert [each.sentence for each in found] == [whole]
    assert ranker.rank("What did she take?", [cut], "", "Jory")[0].sentence == cut
    for other in (replace(whole, who="Tobin"), replace(whole, confided=True)):
        assert len(ranker.rank("What did she take?", [cut, other], "", "Jory")) == 2


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("And her name?", True),
        ("Who lives here?", False),
        ("What is this place?", False),
        ("Does she play anything?", True),
        ("In which county, do you recall?", True),
        ("Why?", True),
        ("Are you married?", False),
        ("What is my trade?", False),
        ("What do you do?", False),
        ("Is it far to the mill by the river?", False),
    ],
)
def test_a_question_leans_if_it_says_too_little_by_itself(question, wanted):
    assert leans(question, "What does Tobin grow?") is wanted


def test_what_says_little_does_not_lean_on_a_statement():
    assert not leans("Who lives here?", "Never open the cellar door.")
    assert leans("What is wrong with her?", "My dog is called Biscuit.")


@pytest.mark.parametrize(
    ("said", "bare"),
    [
        ("Jory, who is she?", "who is she?"),
        ("Who is she, Jory Pask? Tell me.", "Who is she? Tell me."),
        ("Who is Jory?", "Who is Jory?"),
        ("Jory", "Jory"),
        ("Jory,", "Jory,"),
    ],
)
def test_being_called_by_name_says_nothing(said, bare):
    assert without_address(said, "Jory Pask") == bare


@given(st.text(), st.text(), st.lists(st.text(st.characters(exclude_characters="…"), min_size=1)))
def test_whatever_is_said_all_that_differs_is_ranked_once(question, name, texts):
    found = Ranker(None).rank(
        question, [Sentence(t, t, SentenceOrigin.KEPT) for t in texts], "", name
    )
    assert sorted(each.sentence.bare.casefold() for each in found) == sorted(
        {text.casefold() for text in texts}
    )
