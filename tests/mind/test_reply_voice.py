"""The same sentence with other pronouns: whose life it is shows in nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.language.pronouns import in_first_person, turned

PROFILES = [
    # As the inhabitants of the shipped world are written.
    (
        "You are Bram Oakley, forty, who keeps the orchard and the bees above Withy Hythe.",
        "I am Bram Oakley, forty, who keeps the orchard and the bees above Withy Hythe.",
    ),
    (
        "You are large, shy and slow, and you think in apples, weather and rhyme.",
        "I am large, shy and slow, and I think in apples, weather and rhyme.",
    ),
    ("Your mother's blue cup is gone.", "My mother's blue cup is gone."),
    ("You cannot swim and are afraid of deep water.", "I cannot swim and am afraid of deep water."),
    # In the third person and the second.
    ("Tom owes you three crowns.", "Tom owes me three crowns."),
    ("Jory lends you his cart when you need it.", "Jory lends me his cart when I need it."),
    ("He alone knows that you taste nothing.", "He alone knows that I taste nothing."),
    ("Ann brings apples to you, and you scold her.", "Ann brings apples to me, and I scold her."),
    ("People like you.", "People like me."),
    ("A kettle scalded you when you were six.", "A kettle scalded me when I was six."),
    ("Somebody landed a punch on you once.", "Somebody landed a punch on me once."),
    ("The man you once loved is dead.", "The man I once loved is dead."),
    ("The house you now own leaks.", "The house I now own leaks."),
    ("We will have you over to supper.", "We will have me over to supper."),
    ("I'll bring you flowers.", "I'll bring me flowers."),
    ("I miss you terribly.", "I miss me terribly."),
    ("The road you take home is long.", "The road I take home is long."),
    ("On Sundays you and Bram fish.", "On Sundays I and Bram fish."),
    ("You'll get one, and you'll keep it.", "I'll get one, and I'll keep it."),
    ("You know what you once lost.", "I know what I once lost."),
    ("They asked how you came here.", "They asked how I came here."),
    ("The shop is yours, and you built it yourself.", "The shop is mine, and I built it myself."),
    # Clauses and tenses.
    ("What you hate most is noise.", "What I hate most is noise."),
    ("If you lie, you blush.", "If I lie, I blush."),
    ("You were born in Ostrey.", "I was born in Ostrey."),
    ("You were a sailor and were shipwrecked.", "I was a sailor and was shipwrecked."),
    ("You aren't rich, but you're content.", "I'm not rich, but I'm content."),
    ("Never tell anyone that you were married.", "Never tell anyone that I was married."),
    ("Before you came here you’re said to have sung.", "Before I came here I’m said to have sung."),
    # In notes, as an order, as a question.
    ("WORK: your forge, by the weir.", "WORK: my forge, by the weir."),
    ("Who are you?", "Who am I?"),
    # Nobody's life, and words that only look so.
    ("The youth of the town dances.", "The youth of the town dances."),
    ("", ""),
]


@pytest.mark.parametrize(("profile", "own"), PROFILES)
def test_a_profile_becomes_what_the_agent_would_say_of_itself(profile, own):
    assert in_first_person(profile) == own


@pytest.mark.parametrize(("_", "own"), PROFILES)
def test_what_is_in_the_first_person_stays(_, own):
    assert in_first_person(own) == own


@pytest.mark.parametrize(
    ("said", "back"),
    [
        ("I am a sailmaker from Harrow Bay.", "You are a sailmaker from Harrow Bay."),
        ("My sister Lisbet keeps bees.", "Your sister Lisbet keeps bees."),
        ("I'm allergic to leeks.", "You're allergic to leeks."),
        ("I was born on Skerrin, and I've a boat.", "You were born on Skerrin, and you've a boat."),
        ("You gave me a cup and I broke it.", "I gave you a cup and you broke it."),
        ("I told you about my brother.", "You told me about your brother."),
        ("I think you are kind.", "You think I am kind."),
        ("The cart is mine.", "The cart is yours."),
        ("I hurt myself.", "You hurt yourself."),
        ("The mill burned down.", "The mill burned down."),
        ("i keep bees. my wife sells honey.", "You keep bees. Your wife sells honey."),
    ],
)
def test_what_somebody_told_is_said_back_to_them(said, back):
    assert turned(said) == back


@pytest.mark.parametrize("text", ["İ", "İ am here", "MY", "İ'M", "yourſelf", "I\u0307"])
def test_letters_of_other_languages_break_nothing(text):
    assert in_first_person(text)
    assert turned(text)


@given(st.text(max_size=300))
def test_whatever_players_say_it_comes_to_an_end(text):
    for said in (in_first_person(text), turned(text)):
        assert isinstance(said, str)
    # Marks of its own are never left in what is said.
    assert not any("\ue000" <= char <= "\uf8ff" for char in turned(text))


@pytest.mark.parametrize("again", ["I ", "you ", "I and ", "you are ", "my ", "and were "])
def test_whoever_says_it_again_and_again_holds_nobody_up(again):
    for said in (again * 300, f"{again * 300}x"):
        in_first_person(said)
        turned(said)
