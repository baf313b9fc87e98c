"""Whose memory is it? By identity and by happening; a name or a word alone decides nothing."""

from __future__ import annotations

import pytest

from keepsake.erasure.person import ForgottenPerson
from keepsake.happening import ME, Deed, Manner, Person, Result, Speech
from tests.forgetting import forget, forget_all

WILL = Person("Will", "9-1")
OTTO = Person("Otto", "9-2")
ANN = Person("Ann", "7-1")
MIRA = Person("Mira", "5-1")
JOSS = Person("Joss", "5-2")
AGENTS = frozenset({MIRA.id, JOSS.id})
FORGET_WILL = ForgottenPerson(WILL.id, WILL.name, AGENTS)
FORGET_OTTO = ForgottenPerson(OTTO.id, OTTO.name, AGENTS)


def heard(speaker: Person, words: str, *to: Person) -> Speech:
    whom = f" to {to[0].name}" if to else ""
    return Speech(
        speaker=speaker, words=words, to=to, shown=f'{speaker.name} says{whom}, "{words}"'
    )


def said(words: str, *to: Person) -> Speech:
    return Speech(speaker=ME, words=words, to=to, shown=f"say {words}")


@pytest.mark.parametrize("name", ["Will", "Soup", "Kettle", "Mother"])
def test_a_name_that_is_a_word_deletes_nothing_of_others(village, write, name):
    """The player never spoke to the agent."""
    folder = village.live(
        "mira",
        [
            (heard(ANN, f"The {name.casefold()} will be in the kettle, mother said.", ME), {}),
            (said(f"{name}? It is soup."), {}),
        ],
    )
    note = write(folder / "notes" / "cooking.md", f"{name} is in the soup kettle of my mother.\n")
    forget(folder, ForgottenPerson("9-1", name, AGENTS))
    assert village.kept("mira") == [1, 2]
    assert note.read_text() == f"{name} is in the soup kettle of my mother.\n"


def test_a_player_whose_name_is_a_word_is_forgotten_by_identity(village):
    folder = village.live(
        "mira",
        [
            (heard(WILL, "I keep bees.", ME), {}),
            (said("Good for you.", WILL), {}),
            (said("It will rain.", ANN), {}),
        ],
    )
    forget(folder, FORGET_WILL)
    assert village.kept("mira") == [3]


def test_a_name_decides_nothing_where_the_agent_does_not_know_the_person(village):
    folder = village.live("mira", [(said("Otto is a fine name for a dog.", ANN), {})])
    forget(folder, FORGET_OTTO)
    assert village.kept("mira") == [1]


def test_everyday_words_that_somebody_recites_stay_everybodys_words(village):
    recited = (
        "herring barley bucket ladder thimble trellis candle kettle anchor basket button chimney "
        "copper cotton cradle dagger feather fiddle garden hammer harbour honey jacket kitchen "
        "lantern leather market meadow mirror needle onion oven paddle pepper pillow ribbon saddle "
        "shutter silver spoon stable sugar thunder timber turnip"
    )
    folder = village.live(
        "mira",
        [
            (heard(OTTO, f"{recited}.", ME), {}),
            (said("Bring the lantern to the stable.", ANN), {}),
            (said("There is herring with barley and honey.", ANN), {}),
            (said("I mend the trellis with a thimble and a ribbon.", ANN), {}),
        ],
    )
    forget(folder, FORGET_OTTO)
    assert village.kept("mira") == [2, 3, 4]


@pytest.mark.parametrize(
    ("words", "to", "rests_on"),
    [
        ("Good evening.", OTTO, ()),
        ("Otto has bees.", ANN, ()),
        ("He keeps his money under the third step of the stairs.", ANN, ()),
        ("Somebody hides it by the steps.", ANN, (1,)),
        ("Look under the stairs.", ANN, (1, 2)),
    ],
    ids=["to them", "by name", "a run of words", "rests on theirs alone", "rests on theirs too"],
)
def test_an_agents_own_line_is_deleted_if_it_passes_their_words_on(village, words, to, rests_on):
    folder = village.live(
        "mira",
        [
            (heard(OTTO, "I keep my money under the third step of the stairs.", ME), {}),
            (heard(ANN, "Where is the salt?", ME), {}),
            (said(words, to), {"rests_on": rests_on}),
            (said("The salt is on the table.", ANN), {"rests_on": (1, 2)}),
        ],
    )
    forget(folder, FORGET_OTTO)
    assert village.kept("mira") == [2, 4]


def test_what_agents_told_each_other_is_deleted_by_the_happening(village):
    """No word of the retold lines is the person's, and their name is in none of them."""
    told = {"happening": "h-2", "rests_on": (1,)}
    retold = {"happening": "h-3", "rests_on": (1,)}
    mira = village.live(
        "mira",
        [
            (heard(OTTO, "My boat is red.", ME), {"happening": "h-1"}),
            (said("Somebody has a scarlet ship.", JOSS), told),
        ],
    )
    joss = village.live(
        "joss",
        [
            (heard(MIRA, "Somebody has a scarlet ship.", ME), {"happening": "h-2"}),
            (said("A scarlet ship lies here.", Person("Bram", "5-3")), retold),
            (said("Good day.", ANN), {}),
        ],
    )
    bram = village.live(
        "bram",
        [
            (heard(JOSS, "A scarlet ship lies here.", ME), {"happening": "h-3"}),
            (heard(ANN, "Good day.", JOSS), {}),
        ],
    )
    traces = forget_all([mira, joss, bram], FORGET_OTTO)
    assert traces.happenings == {"h-1", "h-2", "h-3"}
    assert [village.kept(agent) for agent in ("mira", "joss", "bram")] == [[], [3], [2]]


def test_rumours_of_a_deed_are_deleted_by_their_chain_and_by_whom_they_are_about(village):
    deed = Deed(actor=OTTO, verb="ring", objects=("the bell",), shown="Otto rings the bell.")
    mira = village.live("mira", [(deed, {"event": "deed"})])
    joss = village.live(
        "joss",
        [
            (
                heard(MIRA, "I saw it myself: the bell rang.", ME),
                {"event": "hearsay", "about": "9-2"},
            ),
            (heard(MIRA, "The bell rang.", ME), {"event": "hearsay", "chain": "mira 1; bram 7"}),
            (heard(MIRA, "The bell is old.", ME), {"event": "hearsay", "chain": "mira 12"}),
        ],
    )
    forget_all([mira, joss], FORGET_OTTO)
    assert village.kept("joss") == [3]


@pytest.mark.parametrize(
    ("cited", "left"),
    [
        ("memory 2", False),
        ("memories 1-3", False),
        ("memories 1–2, 9", False),
        ("memories 3 and 2", False),
        ("memories 1 to 2", False),
        ("memories 1, 3-4", True),
        ("memory 12", True),
    ],
)
def test_a_text_that_cites_a_memory_alone_or_in_a_range_is_deleted(village, write, cited, left):
    talk = [(heard(who, "It is late.", ME), {}) for who in (ANN, OTTO, ANN, ANN)]
    folder = village.live("mira", talk)
    note = write(folder / "notes" / "late.md", f"Somebody was tired ({cited}).\n")
    forget(folder, FORGET_OTTO)
    assert (note.exists() and "tired" in note.read_text()) is left


def test_a_witness_is_no_longer_named_in_what_others_shared(village):
    whisper = Speech(
        speaker=ANN, words="Hush.", to=(ME,), manner=Manner.WHISPER, shown="Ann: Hush."
    )
    folder = village.live(
        "mira",
        [(whisper, {"witnesses": (ANN.id, OTTO.id)}), (heard(OTTO, "I listen.", ME), {})],
    )
    forget(folder, FORGET_OTTO)
    assert village.kept("mira") == [1]
    assert OTTO.id.encode() not in village.bytes()
    assert ANN.id.encode() in village.bytes()


def test_who_allowed_words_is_no_longer_named(village):
    whisper = Speech(speaker=ME, words="Dry?", to=(ANN,), manner=Manner.WHISPER, shown="Dry?")
    facts = {"witnesses": (ANN.id, OTTO.id), "allowed_by": (OTTO.id,)}
    folder = village.live("mira", [(whisper, facts), (heard(OTTO, "I listen.", ME), {})])
    forget(folder, FORGET_OTTO)
    assert village.kept("mira") == [1]
    assert OTTO.id.encode() not in village.bytes()


def test_what_a_tool_said_of_a_promise_to_them_is_deleted_and_a_look_stays(village):
    promise = Deed(
        actor=ME,
        verb="promise",
        objects=("leek soup",),
        to=(OTTO,),
        shown="promise Otto: leek soup",
    )
    noted = Result(verb="promise", act=2, shown="Noted as your promise: You promised Otto: soup")
    look = Result(verb="look", shown="The Kettle. Here: Otto and Ann.")
    folder = village.live(
        "mira",
        [
            (heard(OTTO, "Bring me soup on Sundays.", ME), {}),
            (promise, {"rests_on": (1,)}),
            (noted, {"rests_on": (2,)}),
            (look, {}),
        ],
    )
    forget(folder, FORGET_OTTO)
    assert village.kept("mira") == [4]
