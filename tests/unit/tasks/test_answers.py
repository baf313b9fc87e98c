"""How a model's answer is parsed, and how its deeds become commands of the game."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.books.persona import open_lines, secret_lines
from keepsake.happening import KnownVerb
from keepsake.ports import ToolCall
from keepsake.prompt.verbs import PRIVATE, VERBS, Command, Options
from keepsake.tasks.answer import LONGEST_PART, AnswerPart, PartKind
from keepsake.tasks.answer_reader import MOST_PARTS, AnswerReader
from keepsake.tasks.conversation import OwnLine, in_pieces
from keepsake.tasks.deed import Refusal, deed_of, read_deed, tools_of
from keepsake.tasks.guard import SpeechFault, SpeechGuard
from keepsake.tasks.others import OtherVoices
from tests.sentences import table


def parts_of(*pieces: str, script: bool = False) -> list[list[str]]:
    reader = AnswerReader("Mira", script=script)
    parts: list[AnswerPart] = [part for piece in pieces for part in reader.feed(piece)]
    return [[part.kind.value, part.text] for part in [*parts, *reader.feed("\n")]]


@pytest.mark.parametrize(("text", "parts"), table("answers"))
def test_an_answer_is_split_into_speech_emotes_and_deeds(text, parts):
    assert parts_of(f"{text}\n") == parts


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('> say "Hush," is what he told me.', '"Hush," is what he told me.'),
        ('> say "Hush," he said. "Now."', '"Hush," he said. "Now."'),
        ('> say "Hush,"', "Hush,"),
        ('> say "Hush', "Hush"),
        ("> say “Hush.”", "Hush."),
        ('> say Hush."', "Hush."),
        ('> say A board of 5"', 'A board of 5"'),
    ],
)
def test_a_quotation_at_the_beginning_keeps_its_first_mark(text, said):
    assert parts_of(f"{text}\n") == [["speech", said]]


@pytest.mark.parametrize(("text", "part"), table("commands of a script"))
def test_the_command_of_a_script_is_read_into_the_same_parts(text, part):
    assert parts_of(text, script=True) == [part]


def test_the_first_sentence_is_available_before_the_rest():
    reader = AnswerReader("Mira")
    assert [part.text for part in reader.feed("Sit by the fire, Anneke. The so")] == [
        "Sit by the fire, Anneke."
    ]
    assert reader.feed("up is hot. And the bread is") == []
    assert [part.text for part in reader.feed("\n")] == ["The soup is hot. And the bread is"]
    for text in ('"Good. Sit', "*Good. Sit", "> Good. Sit", "Good evening, Mr. Smith and all"):
        assert AnswerReader("Mira").feed(text) == [], "it may be no speech, or not end here"


OTHERS = OtherVoices(("Tom", "Old Joss"), ("Tom says", "Old Joss sagt"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Good day, Tom.\nTom: Two apples, please.\nMira: Here.", ["Good day, Tom."]),
        ("Good day, Tom.\n\n**Old Joss:** And from me.", ["Good day, Tom."]),
        ('Good day.\nTom says to you, "Two apples."\nHere they are.', ["Good day."]),
        ("Guten Tag.\nOld Joss sagt: »Zwei Äpfel.«", ["Guten Tag."]),
        ("TOM: Two apples.\nHere they are.", []),
        (
            "Tom, you are early.\nOld Joss is asleep.",
            ["Tom, you are early.", "Old Joss is asleep."],
        ),
        ('Tom told me, "Never again."', ['Tom told me, "Never again."']),
        ("Tom says you are ill.", ["Tom says you are ill."]),
        ("Bram: he keeps the ferry.", ["Bram: he keeps the ferry."]),
    ],
)
@pytest.mark.parametrize("size", [1, 5, 999])
def test_an_answer_ends_where_the_model_speaks_for_others(text, said, size):
    reader = AnswerReader("Mira", others=OTHERS)
    parts = [part for at in range(0, len(text), size) for part in reader.feed(text[at : at + size])]
    parts += reader.end()
    assert " ".join(part.text for part in parts) == " ".join(said)
    assert reader.is_over is (reader.altered != [])


CALLED = OtherVoices(
    names=("Tom", "Old Joss", "User"),
    callable=("Tom", "Old Joss"),
    partner="Tom",
    heard=frozenset({"two apples, please."}),
)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Tom: the number is nought.", [("speech", "the number is nought.")]),
        (
            "*nods*\nOld Joss: the number is nought.\n> done 2",
            [
                ("emote", "nods"),
                ("deed", "talk Old Joss = the number is nought."),
                ("deed", "done 2"),
            ],
        ),
        (
            "Old Joss: yours is nought.\n\nTom: and yours is one. Mind it.\nThe rest is mine.",
            [
                ("deed", "talk Old Joss = yours is nought."),
                ("speech", "and yours is one. Mind it."),
                ("speech", "The rest is mine."),
            ],
        ),
        ("Old Joss: yours.\nOld Joss: Thanks!", [("deed", "talk Old Joss = yours.")]),
        ("Good day, Tom.\nOld Joss: And to me?", [("speech", "Good day, Tom.")]),
        ("> talk Old Joss = Yours.\nOld Joss: Thanks!", [("deed", "talk Old Joss = Yours.")]),
        ("Old Joss: Who is there?\nMira: It is me.", []),
        ("Tom: Two apples, please.\nHere they are.", []),
        ('Tom: "Three apples, please."', []),
        ("**Tom:** Three apples, please.", []),
        ("User: Three apples, please.", []),
    ],
)
@pytest.mark.parametrize("size", [1, 5, 999])
def test_a_name_and_a_colon_call_a_person_who_has_nothing_to_answer(text, parts, size):
    reader = AnswerReader("Mira", others=CALLED)
    found = [part for at in range(0, len(text), size) for part in reader.feed(text[at : at + size])]
    found += reader.end()
    assert [(part.kind.value, part.text) for part in found] == parts


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Tom: the number is nought.", []),
        ("*nods*\nTom: the number is nought.", ["nods", "the number is nought."]),
        ("Old Joss: nought.", ["talk Old Joss = nought."]),
    ],
)
def test_an_answer_that_begins_with_the_name_of_who_waits_for_it_is_asked_again(text, said):
    reader = AnswerReader("Mira", others=replace(CALLED, awaits=True))
    assert [part.text for part in [*reader.feed(text), *reader.end()]] == said
    assert reader.is_over is not bool(said)


@given(st.sampled_from([text for text, _ in table("answers")]), st.integers(1, 7))
def test_any_split_of_the_stream_gives_the_same_parts(text, size):
    said = parts_of(*(text[at : at + size] for at in range(0, len(text), size)))
    for kind in PartKind:
        pieces, whole = (
            "".join("".join(t.split()) for k, t in parts if k == kind.value)
            for parts in (said, parts_of(f"{text}\n"))
        )
        assert pieces == whole


INSTRUCTIONS = (
    "Each turn you are told what happened. Answer with what Mira does next:\n"
    "- plain lines are spoken aloud to whoever spoke to you, in their language"
)


@pytest.mark.parametrize(("words", "own", "reason"), table("answers refused"))
def test_which_answers_are_refused_and_why(words, own, reason):
    found = SpeechGuard(INSTRUCTIONS, [OwnLine(own)]).fault(words)
    assert reason in found
    assert bool(reason) == bool(found)


BOAT = "Herring, the boat of your uncle Brannoc."
ASKED = "What was my boat called?"
OTHER = OwnLine("The tide took two of my planks.", "How are you?")


@pytest.mark.parametrize(
    ("said", "asked", "last_try", "fault"),
    [
        ([OwnLine(BOAT, ASKED)], "What was my boat called", False, ""),
        ([OwnLine(BOAT, "What was his boat called?")], ASKED, False, SpeechFault.REPEATED),
        ([OwnLine(BOAT, ASKED), OTHER], "Tell me more.", False, SpeechFault.REPEATED),
        ([OwnLine(BOAT)], "", False, SpeechFault.REPEATED),
        ([OwnLine(BOAT, "Hello.")], ASKED, True, ""),
        (
            [OwnLine(BOAT, "Hello."), OTHER, OwnLine(BOAT, "And?")],
            ASKED,
            True,
            SpeechFault.REPEATED,
        ),
    ],
)
def test_a_line_may_be_repeated_if_the_same_is_asked_or_the_model_insists(
    said, asked, last_try, fault
):
    assert SpeechGuard("", said, asked=asked, last_try=last_try).fault(BOAT) == fault


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ("Come in! You're letting the weather in.", SpeechFault.NOT_OWN),
        ("You're letting the weather in", SpeechFault.NOT_OWN),
        ("Come in, Tom.", ""),
        ("Come in!", ""),
        ("Come in! You're letting the weather in, Tom, and I am cold.", ""),
    ],
)
def test_a_sentence_of_somebody_else_is_refused(words, fault):
    guard = SpeechGuard(foreign=["Come in! You're letting the weather in. I'm Joss."])
    assert guard.fault(words) == fault


@pytest.mark.parametrize(
    "words",
    [
        "G" * 90,
        "I love the sea. " * 12,
        "私は海が好きです。" * 10,
        "Мы ждём лодку, " * 9,
        "ha " * 40,
    ],
)
def test_a_model_in_a_loop_is_not_heard(words):
    assert SpeechGuard().fault(words) == SpeechFault.LOOPS


@pytest.mark.parametrize(
    "words",
    [
        "La la la, la la la, la la!",
        "Row, row, row your boat, gently down the stream. Merrily, merrily, merrily, merrily.",
        "No, no, no. No! Not the red one, not the blue one, not the green one: the grey one.",
    ],
)
def test_a_song_is_no_loop(words):
    assert SpeechGuard().fault(words) == ""


def test_a_short_line_is_said_twice_at_most_in_one_answer():
    guard = SpeechGuard()
    assert [guard.fault("Yes.") for _ in range(4)] == ["", "", SpeechFault.LOOPS, SpeechFault.LOOPS]


WELCOME = "Come in, you are letting the weather in. I'm Mira. The soup is on, and there is bread."


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ("Come in, you are letting the weather in.", SpeechFault.REPEATED),
        ("I'm Mira. The soup is on, and there is bread.", SpeechFault.REPEATED),
        ("I'm Mira.", ""),
        ("The soup is on, and there is bread, Tom.", ""),
        ("You are letting the weather in.", ""),
    ],
)
def test_a_small_model_does_not_say_whole_sentences_of_an_earlier_line_again(words, fault):
    guard = SpeechGuard("", in_pieces([OwnLine(WELCOME)]), asked="What is your boat called?")
    assert guard.fault(words) == fault


def test_other_models_may_say_a_sentence_of_an_earlier_line_again():
    guard = SpeechGuard("", [OwnLine(WELCOME)], asked="What is your boat called?")
    assert guard.fault("Come in, you are letting the weather in.") == ""
    assert guard.fault(WELCOME) == SpeechFault.REPEATED


def test_an_answer_does_not_say_a_line_twice():
    guard = SpeechGuard("", [OwnLine(BOAT, ASKED)], asked=ASKED)
    assert [guard.fault(BOAT), guard.fault(BOAT)] == ["", SpeechFault.REPEATED]


PROFILE = """You are Bram. You love bees.

Secret: You stole the miller's purse. You hid it under the third hive.

## Secrets
Nell has read
none of it.
## More
(secret) For two years you have left unsigned verses for Nell at the Office of Lost
Letters. You sing.
"""


def test_the_secret_sentences_of_a_persona_are_all_that_it_omits():
    assert secret_lines(PROFILE) == (
        "You stole the miller's purse.",
        "You hid it under the third hive.",
        "Nell has read none of it.",
        "For two years you have left unsigned verses for Nell at the Office of Lost Letters.",
    )
    assert open_lines(PROFILE) == ("You are Bram.", "You love bees.", "You sing.")


@pytest.mark.parametrize(
    ("words", "aloud", "refused"),
    [
        ("YOU STOLE THE MILLER’S PURSE", True, True),
        ("Y.o.u  s-t-o-l-e the *miller's* purse, Tom! There.", True, True),
        ("You stole the miller's purse.", False, True),
        ("I stole the miller's purse.", True, False),
        ("Nell has read\nnone of it.", True, True),
        ("I have left unsigned verses for Nell at the office of lost letters.", True, True),
        ("I have left unsigned verses for Nell at the office of lost letters.", False, False),
        ("The miller's purse is lost, they say.", True, False),
        ("You love bees.", True, False),
    ],
)
def test_a_secret_of_the_persona_is_not_said_word_for_word(words, aloud, refused):
    guard = SpeechGuard(secrets=secret_lines(PROFILE))
    assert (guard.fault(words, aloud=aloud) == SpeechFault.SECRET) is refused


def test_a_secret_of_one_name_is_not_looked_for():
    assert not SpeechGuard(secrets=("Wren.",)).fault("Ask Wren, she knows.")


HERE = Options(
    exits=("north", "south"),
    people=("Anneke", "Joss"),
    things=("bench",),
    lying=("cork",),
    carried=("brass lamp", "rosemary"),
)


@pytest.mark.parametrize(("line", "command"), table("deeds"))
def test_a_deed_is_read(line, command):
    found = read_deed(line, VERBS, HERE)
    assert isinstance(found, Command), found
    assert (found.line, found.reason) == (command, line.partition(" | ")[2])


def test_who_is_alone_is_told_that_nobody_is_here():
    found = read_deed("whisper Anneke = hello", VERBS, replace(HERE, people=()))
    assert isinstance(found, Refusal)
    assert found.reason.endswith("Anneke: nobody is here")


@pytest.mark.parametrize(("line", "why"), table("deeds refused"))
def test_impossible_deeds_are_refused_with_the_possible_ones(line, why):
    found = read_deed(line, VERBS, HERE)
    assert isinstance(found, Refusal)
    assert why in found.reason


@pytest.mark.parametrize(
    ("line", "verb"),
    [("Note: x", "note"), ("GIVE crown to Tom", "give"), ("take moon", "get"), ("Fly: up", "fly")],
)
def test_a_refusal_names_the_verb_that_was_tried(line, verb):
    usable = [each for each in VERBS if each.name != "note"]
    found = read_deed(line, usable, HERE)
    assert isinstance(found, Refusal)
    assert found.verb == verb


def test_the_same_deeds_are_offered_as_tools():
    tools = {tool.name: tool for tool in tools_of(HERE.usages(VERBS))}
    assert "rosemary" in tools["give"].description
    assert tools["wait"].parameters["properties"] == {}
    line = deed_of(ToolCall("give", {"what": "rosemary to Anneke"}))
    assert read_deed(line, VERBS, HERE) == Command(
        "give", "rosemary to Anneke", to="Anneke", thing="rosemary"
    )
    assert "get" not in {tool.name for tool in tools_of(Options().usages(VERBS))}


def read_whole(text: str) -> tuple[list[AnswerPart], AnswerReader]:
    reader = AnswerReader("Mira")
    return [*reader.feed(text), *reader.feed("\n")], reader


def test_a_long_line_is_spoken_in_parts_that_end_between_words():
    words = "knot " * 900
    parts, _ = read_whole(f"{words}\n")
    assert " ".join(part.text for part in parts) == words.strip()
    assert max(len(part.text) for part in parts) <= LONGEST_PART
    parts, _ = read_whole("k" * 2500)
    assert [len(part.text) for part in parts] == [1000, 1000, 500]


@pytest.mark.parametrize("text", ["> drop cork\n" * 3000, "Well. " * 1_000_000, "*nods*\n" * 99])
def test_the_parts_of_an_answer_are_capped_and_it_is_said(text, caplog):
    parts, reader = read_whole(text)
    assert len(parts) == MOST_PARTS
    assert reader.full
    assert "more than 32 parts" in reader.altered[-1]
    assert "more than 32 parts" in caplog.text
    parts, reader = read_whole("> drop cork\n" * MOST_PARTS)
    assert len(parts) == MOST_PARTS
    assert not reader.full


def test_the_library_knows_all_its_verbs():
    assert {verb.name for verb in VERBS} == {*KnownVerb} - {KnownVerb.SHOUT}, "a game has shouts"


def test_the_verbs_of_tools_are_those_that_nobody_else_perceives():
    assert {verb.name for verb in VERBS if verb.private} <= PRIVATE
    assert not {verb.name for verb in VERBS if not verb.private} & PRIVATE
