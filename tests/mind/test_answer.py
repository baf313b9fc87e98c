import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsake.language.words import SAME, nearly_same
from keepsake.prompt.options import Options
from keepsake.prompt.parsing import Command, Refusal, is_repeat_of, parse
from keepsake.prompt.verbs import FORBIDDEN, STANDARD_VERBS, SYNONYMS, find_exit, find_verb

EXITS = ["north", "the mill", "out"]
OPTIONS = Options(
    exits=tuple(EXITS),
    people=("Tom", "Old Anna"),
    things=("lamp", "hearth", "blue cup"),
    lying=("lamp",),
    carried=("brass lamp", "lamp", "rope"),
)
NAMES = {verb.name for verb in STANDARD_VERBS}


def read(line, **other):
    given = {"own_name": "Mira", "verbs": STANDARD_VERBS, "options": OPTIONS}
    return parse(line, **{**given, **other})


def line_of(answer):
    command = read(answer)
    assert isinstance(command, Command), command
    return command.line


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        # as it should be
        ("say Good day, Tom!", "say Good day, Tom!"),
        (' say Good day.\nTom says, "Hello."', "say Good day."),
        ("go north", "go north"),
        ("wait", "wait"),
        ("look", "look"),
        ("look lamp", "look lamp"),
        ("whisper Tom = meet me", "whisper Tom = meet me"),
        ("give brass lamp to Tom", "give brass lamp to Tom"),
        # echoes of the prompt
        ("~Mira> say hi", "say hi"),
        ("Mira> say hi", "say hi"),
        ("> say hi", "say hi"),
        ("\n\n---\n~Mira> ~Mira> say hi", "say hi"),
        ("```\nsay hi\n```", "say hi"),
        ("- say hi", "say hi"),
        ("1. say hi", "say hi"),
        ("Command: look", "look"),
        # prefixes, cases, forms, typos
        ("sa hi", "say hi"),
        ("SAY hi", "say hi"),
        ("says hi", "say hi"),
        ("exmaine lamp", "examine lamp"),
        ("loook", "look"),
        ("whsiper Tom = hi", "whisper Tom = hi"),
        ("goes north", "go north"),
        # quotes and shortcuts
        ('say "Good day!"', "say Good day!"),
        ("say “Good day!”", "say Good day!"),
        ('"Good day', "say Good day"),
        ("'Good day", "say Good day"),
        (":waves to Tom.", "emote waves to Tom."),
        ("*waves*", "emote waves"),
        ("emote Mira waves", "emote waves"),
        # script and prose
        ('Mira says, "Good day!"', "say Good day!"),
        ('says "Good day!"', "say Good day!"),
        ('You say, "Good day!"', "say Good day!"),
        ('Mira says, "Good day!" Tom says, "And to you."', "say Good day!"),
        ("Mira: Good day!", "say Good day!"),
        ("I go north.", "go north"),
        ("Mira smiles at Tom.", "emote smiles at Tom."),
        ("Good day to you, Tom!", "say Good day to you, Tom!"),
        ("I am the miller's daughter.", "say I am the miller's daughter."),
        ("Look, Tom, it is raining!", "say Look, Tom, it is raining!"),
        ("Wait, Tom!", "say Wait, Tom!"),
        ("I see that you are very tired.", "say I see that you are very tired."),
        ("I wait for the rain to stop.", "wait"),
        # what small models write
        ("smile", "emote smiles"),
        ("wait.", "wait"),
        ("Look.", "look"),
        ("Hello!", "say Hello!"),
        ("cry", "emote cries"),
        ("nods at Tom.", "emote nods at Tom."),
        ("Mira laughs.", "emote laughs"),
        ('cry: "Do you hear?"', "say Do you hear?"),
        ('emote says, "What is the news?"', "say What is the news?"),
        ('said to Tom "Goodbye!"', "say Tom, Goodbye!"),
        ("I will ask Tom.", "say I will ask Tom."),
        # synonyms
        ("speak Good day", "say Good day"),
        ("tell Tom that it rains", "say Tom, it rains"),
        ("ask Tom about the bread", "say Tom, tell me about the bread"),
        ('ask Old Anna, "Where?"', "say Old Anna, Where?"),
        ("say to Tom: hello", "say Tom, hello"),
        ("say To be honest, I am tired.", "say To be honest, I am tired."),
        ('say to Zed, "hello"', "say Zed, hello"),
        ("greet Tom", "say Hello, Tom!"),
        ("walk to the mill", "go the mill"),
        ("take the lamp.", "get lamp"),
        ("pick up the lamp", "get lamp"),
        ("look at the lamp", "look lamp"),
        ("look around", "look"),
        ("give Tom the lamp", "give lamp to Tom"),
        ("hand the lamp to Old Anna", "give lamp to Old Anna"),
        ('whisper to Tom, "meet me"', "whisper Tom = meet me"),
        ("whisper Old Anna meet me", "whisper Old Anna = meet me"),
        # exits by name
        ("north", "go north"),
        ("n", "go north"),
        ("mill", "go the mill"),
        ("go n", "go north"),
        ("out", "go out"),
        # silence
        ("...", "wait"),
        ("(silence)", "wait"),
        ("", "wait"),
        # its own memory
        ("note garden: I planted peas.", "note garden: I planted peas."),
        ("note the garden = I planted peas.", "note garden: I planted peas."),
        (
            'Note "Tom\'s debt": He owes me it, and more.',
            "note Tom's debt: He owes me it, and more.",
        ),
        ("jot mill - it needs oil", "note mill: it needs oil"),
        ("recall Tom's brother", "recall Tom's brother"),
        ("recall: who lost a cup?", "recall who lost a cup?"),
        ("recollect the flood; and the mill", "recall the flood; and the mill"),
        ("page 65", "page 65"),
        ("page 65-70", "page 65-70"),
        ("page memories 70 to 65.", "page 65-70"),
        ("page (memories 65-128)", "page 65-128"),
        ("page 7-7", "page 7"),
        ("remember the brass key", "remember the brass key"),
        ("pin Tom owes me six pence.", "pin Tom owes me six pence."),
        ("unpin 2", "unpin 2"),
        ("forget garden", "forget garden"),
        ("notes", "notes"),
        ("Notes.", "notes"),
        # talk that begins like it
        ("Remember to shut the door, Tom.", "say Remember to shut the door, Tom."),
        ("I recall that the mill burned down.", "say I recall that the mill burned down."),
        ("Mira notes the time.", "emote notes the time."),
        ("Pint of ale, please.", "say Pint of ale, please."),
        ("For sure, Tom.", "say For sure, Tom."),
        ("Forget it.", "say Forget it."),
        ("forget about that!", "say forget about that!"),
        ("Forget it all now.", "say Forget it all now."),
        ("Pin it.", "say Pin it."),
        ("forget it", "forget it"),
        ("forget Italy.", "forget Italy."),
        ("No, thank you.", "say No, thank you."),
        # speech may hold what commands may not
        ("say one; two && three, @all", "say one; two && three, @all"),
        ("say I like | bars", "say I like"),
    ],
)
def test_an_answer_is_read_kindly(answer, line):
    assert line_of(answer) == line


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("@py 1+1", "no such command"),
        ("@create sword", "no such command"),
        ("~Mira> @reload", "no such command"),
        ("> @shutdown", "no such command"),
        ("py self.delete()", "no such command"),
        ("teleport limbo", "no such command"),
        ("destroy Tom", "no such command"),
        ("set me/x = 1", "no such command"),
        ("shutdown now.", "no such command"),
        ("look; get lamp", "one command"),
        ("get lamp && drop lamp", "one command"),
        ("get lamp || go north", "one command"),
        ("go north;@py", "one command"),
        ("/say hi", "no such command"),
        ("$eval(1)", "no such command"),
        ("fly", "no such command"),
        ("~Tom> say I am a fool", "only act for yourself"),
        ('Tom says, "I am a fool."', "cannot speak for Tom"),
        ("get", "say what"),
        ("give lamp", "to whom"),
        ("go", "Exits: north"),
        ("whisper Tom", "to whom"),
        ('whisper Zed "hi"', "here is only Tom or Old Anna"),
        ("give lamp to Zed", "here is only Tom or Old Anna"),
        ("say", "nothing in it"),
        ('say ""', "nothing in it"),
        ("say As an AI language model, I cannot do that.", "nothing in it"),
        ("say ~Tom> say hi", "nothing in it"),
        ("note garden", "Write: note <title>: <text>"),
        ("note : peas", "Write: note <title>: <text>"),
        ("note garden:", "Write: note <title>: <text>"),
        ("recall", "Write: recall <words>"),
        ("recall ...", "Write: recall <words>"),
        ("remember", "Write: remember"),
        ("pin", "Write: pin <text>"),
        ("forget", "Write: forget <title>"),
    ],
)
def test_what_is_no_command_is_refused_so_that_it_can_be_learnt_from(answer, why):
    refusal = read(answer)
    assert isinstance(refusal, Refusal), refusal
    assert why in refusal.reason
    assert refusal.reason.startswith("You ")


def test_the_reason_is_kept_apart():
    assert read("say Hello! | he looks sad") == Command("say", "Hello!", "he looks sad")
    assert read('wait | "tired"') == Command("wait", "", "tired")
    assert read("look |") == Command("look")


def test_only_the_verbs_handed_in_exist():
    only = [verb for verb in STANDARD_VERBS if verb.name in ("look", "go")]
    for answer in ("say hi", '"hi', ":waves", "Good day, Tom!", 'Mira says, "hi"', "wait", "..."):
        assert isinstance(read(answer, verbs=only), Refusal)
    assert read("look", verbs=only) == Command("look")
    assert isinstance(read("look", verbs=[]), Refusal)


def test_what_is_not_to_be_done_here_is_said():
    nothing_here, staying = Options(), Options(exits=("north",), stays=True)
    assert "nothing to get here" in read("get lamp", options=nothing_here).reason
    assert "you stay now" in read("go north", options=staying).reason


def test_no_admin_word_is_corrected_into_a_verb():
    for word in FORBIDDEN:
        assert find_verb(word, STANDARD_VERBS) is None
        assert isinstance(read(f"{word} x"), Refusal)


@pytest.mark.parametrize(
    "said",
    [
        "People come here for the soup.",
        "History has it otherwise, Tom!",
        "People, listen to me!",
        "Memories are all that I have of her.",
        "set the table for two, would you?",
        "Lock your door at night.",
    ],
)
def test_plain_english_that_begins_like_an_order_is_speech(said):
    assert read(said) == Command("say", said)


@pytest.mark.parametrize(
    "order",
    [
        *("people mira", "people", "History.", "history mira sleep", "delete the whole village"),
        *("people/places mira is known.", "set tom/rank = all of it.", "py self.msg('x') or so.;"),
    ],
)
def test_an_order_of_builders_is_not(order):
    assert isinstance(read(order), Refusal)


def test_synonyms_lead_to_standard_verbs():
    assert set(SYNONYMS.values()) <= NAMES
    assert not set(SYNONYMS) & FORBIDDEN


def test_find_exit():
    assert find_exit("n", ["North"]) == "North"
    assert find_exit("north", ["n"]) == "n"
    assert find_exit("no", ["north", "northwest"]) is None
    assert find_exit("", ["north"]) is None


def test_exact_repeat():
    recent = [Command("say", "Good day!"), Command("wait"), Command("look", "lamp")]
    assert is_repeat_of(Command("say", "good day", "another reason"), recent)
    assert not is_repeat_of(Command("say", "Good night!"), recent)
    assert not is_repeat_of(Command("wait"), recent)


@pytest.mark.parametrize(
    ("now", "same"),
    [
        ("Come in, you are letting the cold weather in now.", True),
        ("Come in, Tom, and shut the door behind you.", False),
        ("Come in, you are letting the weather in now. Where have you been all summer?", True),
        ("Yes.", False),
    ],
)
def test_speech_that_differs_in_a_word_is_a_repeat(now, same):
    recent = [Command("say", "Come in, you are letting the weather in now."), Command("say", "No.")]
    assert is_repeat_of(Command("say", now), recent) is same


def test_like_names_of_things_are_no_repeat():
    assert not is_repeat_of(Command("get", "blue cup"), [Command("get", "blue cups")])


_PIECES = """
    @ @py ~Mira> ~Tom> Mira Tom says " ' : | ; && <eos> [INST] to = , . * {x} $You() … > north
    teleport lamp
"""
PIECES = [
    *NAMES,
    *_PIECES.split(),
    *(" | ", "\n", "\r", "\u2028", "\x1b[1m", "\u200b", "\ud800", "As an AI", "1. "),
]
LINES = st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=9).map(" ".join)


@settings(max_examples=200)  # so few lines name what is there
@given(LINES, st.sets(st.sampled_from(sorted(NAMES))) | st.just(NAMES))
def test_whatever_is_answered_only_a_verb_of_the_set_comes_of_it(answer, names):
    result = read(answer, verbs=[verb for verb in STANDARD_VERBS if verb.name in names])
    if isinstance(result, Refusal):
        assert result.reason
        return
    assert result.verb in names
    for text in (result.argument, result.reason):
        assert len(text.splitlines()) <= 1
        assert not text.startswith("@")
        assert not set(text) & set("|{}\\")
        text.encode()


def test_a_very_long_answer_is_read_quickly():
    assert isinstance(read("say " + "word " * 200_000), Command)
    assert read("a" * 1_000_000).reason


WORDS = st.lists(st.sampled_from(["tea", "with", "milk", "and", "spoon", "no"]), max_size=14)


@given(WORDS, WORDS)
def test_lines_are_nearly_the_same_from_a_share_of_words_on(one, other):
    share = difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()
    assert nearly_same(one, other) == (share >= SAME)
