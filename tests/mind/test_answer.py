import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsake.prompt.options import Options
from keepsake.prompt.verbs import (
    FORBIDDEN,
    STANDARD_VERBS,
    SYNONYMS,
    Command,
    find_exit,
    find_verb,
)
from keepsake.tasks.command_line import read_command

EXITS = ["north", "the mill", "out"]
OPTIONS = Options(
    exits=tuple(EXITS),
    people=("Tom", "Old Anna"),
    things=("lamp", "hearth", "blue cup"),
    lying=("lamp",),
    carried=("brass lamp", "lamp", "rope"),
)
NAMES = {verb.name for verb in STANDARD_VERBS}


def read(line, verbs=STANDARD_VERBS, options=OPTIONS):
    return read_command(line, "Mira", verbs, options)


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
        ('Mira says, "Good day!" Tom says, "And to you."', "say Good day!"),
        ("Mira: Good day!", "say Good day!"),
        ("Mira smiles at Tom.", "emote smiles at Tom."),
        ("Good day to you, Tom!", "say Good day to you, Tom!"),
        ("I am the miller's daughter.", "say I am the miller's daughter."),
        ("Look, Tom, it is raining!", "say Look, Tom, it is raining!"),
        ("Wait, Tom!", "say Wait, Tom!"),
        ("I see that you are very tired.", "say I see that you are very tired."),
        # what small models write
        ("wait.", "wait"),
        ("Look.", "look"),
        ("Hello!", "say Hello!"),
        ("Mira laughs.", "emote laughs."),
        ("I will ask Tom.", "say I will ask Tom."),
        # other words for it
        ("say To be honest, I am tired.", "say To be honest, I am tired."),
        ("walk to the mill", "go the mill"),
        ("take the lamp.", "get lamp"),
        ("pick up the lamp", "get lamp"),
        ("look at the lamp", "look lamp"),
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
        ("", "wait"),
        # its own memory
        ("note garden: I planted peas.", "note garden: I planted peas."),
        ("note the garden = I planted peas.", "note garden: I planted peas."),
        (
            'Note "Tom\'s debt": He owes me it, and more.',
            "note Tom's debt: He owes me it, and more.",
        ),
        ("recall Tom's brother", "recall Tom's brother"),
        ("recall: who lost a cup?", "recall who lost a cup?"),
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
        ("@py 1+1", "no such deed"),
        ("@create sword", "no such deed"),
        ("~Mira> @reload", "no such deed"),
        ("> @shutdown", "no such deed"),
        ("py self.delete()", "no such deed"),
        ("teleport limbo", "no such deed"),
        ("destroy Tom", "no such deed"),
        ("set me/x = 1", "no such deed"),
        ("shutdown now.", "no such deed"),
        ("look; get lamp", "you can only look"),
        ("get lamp && drop lamp", "you can only get"),
        ("get lamp || go north", "you can only get"),
        ("go north;@py", "no such exit"),
        ("/say hi", "no such deed"),
        ("$eval(1)", "no such deed"),
        ("fly", "no such deed"),
        ("~Tom> say I am a fool", "only act for yourself"),
        ('Tom says, "I am a fool."', "cannot speak for Tom"),
        ("get", "you can only get"),
        ("give lamp", "say what"),
        ("go", "Exits: north"),
        ("whisper Tom", "say what"),
        ("whisper Zed = hi", "here is only Tom or Old Anna"),
        ("give lamp to Zed", "here is only Tom or Old Anna"),
        ("say", "say what"),
        ('say ""', "say what"),
        ("say ~Tom> say hi", "nothing in it"),
        ("note garden", "Write: > note <title>: <text>"),
        ("note : peas", "Write: > note <title>: <text>"),
        ("note garden:", "Write: > note <title>: <text>"),
        ("recall", "Write: > recall <words>"),
        ("recall ...", "Write: > recall <words>"),
        ("remember", "Write: > remember"),
        ("pin", "Write: > pin <text>"),
        ("forget", "Write: > forget <title>"),
    ],
)
def test_what_is_no_command_is_refused_so_that_it_can_be_learnt_from(answer, why):
    refusal = read(answer)
    assert isinstance(refusal, str), refusal
    assert why in refusal
    assert refusal.startswith("You ")


def test_the_reason_is_kept_apart():
    assert read("say Hello! | he looks sad") == Command("say", "Hello!", "he looks sad")
    assert read('wait | "tired"') == Command("wait", "", "tired")
    assert read("look |") == Command("look")


def test_only_the_verbs_handed_in_exist():
    only = [verb for verb in STANDARD_VERBS if verb.name in ("look", "go")]
    for answer in ("say hi", '"hi', ":waves", "Good day, Tom!", 'Mira says, "hi"', "wait", "..."):
        assert isinstance(read(answer, verbs=only), str)
    assert read("look", verbs=only) == Command("look")
    assert isinstance(read("look", verbs=[]), str)


def test_what_is_not_to_be_done_here_is_said():
    nothing_here, staying = Options(), Options(exits=("north",), stays=True)
    assert "there is nothing to do it to" in read("get lamp", options=nothing_here)
    assert "you stay now" in read("go north", options=staying)


def test_no_admin_word_is_corrected_into_a_verb():
    for word in FORBIDDEN:
        assert find_verb(word, STANDARD_VERBS) is None
        assert isinstance(read(f"{word} x"), str)


@pytest.mark.parametrize(
    "said",
    [
        "People come here for the soup.",
        "History has it otherwise, Tom!",
        "People, listen to me!",
        "Memories are all that I have of her.",
        "Lock your door at night.",
    ],
)
def test_plain_english_that_begins_like_an_order_is_speech(said):
    assert read(said) == Command("say", said)


@pytest.mark.parametrize(
    "order",
    [
        *("people mira", "people", "history mira sleep", "delete the whole village"),
        *("set tom/rank = all of it.", "py self.msg('x') or so.;"),
    ],
)
def test_an_order_of_builders_is_not(order):
    assert isinstance(read(order), str)


def test_synonyms_lead_to_standard_verbs():
    assert set(SYNONYMS.values()) <= NAMES
    assert not set(SYNONYMS) & FORBIDDEN


def test_find_exit():
    assert find_exit("n", ["North"]) == "North"
    assert find_exit("north", ["n"]) == "n"
    assert find_exit("no", ["north", "northwest"]) is None
    assert find_exit("", ["north"]) is None


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
    if isinstance(result, str):
        assert result
        return
    assert result.verb in names
    for text in (result.argument, result.reason):
        assert len(text.splitlines()) <= 1
        assert not text.startswith("@")
        assert not set(text) & set("|{}\\")
        text.encode()


def test_a_very_long_answer_is_read_quickly():
    assert isinstance(read("say " + "word " * 200_000), Command)
    assert isinstance(read("a" * 1_000_000), str)
