"""Gestures in every dress in which models write them, and speech that only looks like one."""

from __future__ import annotations

import pytest

from keepsake.tasks.answer import PartKind
from keepsake.tasks.answer_reader import AnswerReader

DRESSED = [
    ("*slams the tankard* What now?", "*slams the tankard* | What now?"),
    (
        "I can do it too, listen: *bleats like a goat*",
        "I can do it too, listen: | *bleats like a goat*",
    ),
    ("(slams the tankard) What now?", "*slams the tankard* | What now?"),
    ("[slams the tankard] What now?", "*slams the tankard* | What now?"),
    ("_slams the tankard_ What now?", "*slams the tankard* | What now?"),
    ("**slams the tankard** What now?", "*slams the tankard* | What now?"),
    ("***slams the tankard*** What now?", "*slams the tankard* | What now?"),
    ("__slams the tankard__ What now?", "*slams the tankard* | What now?"),
    ("What now? (slams the tankard)", "What now? | *slams the tankard*"),
    ("What now? [slams the tankard]", "What now? | *slams the tankard*"),
    ("What now? _slams the tankard_", "What now? | *slams the tankard*"),
    ("What now? **slams the tankard**", "What now? | *slams the tankard*"),
    ("(sighs)", "*sighs*"),
    ("[sighs]", "*sighs*"),
    ("_sighs_", "*sighs*"),
    ("**sighs**", "*sighs*"),
    ('Mira slams the tankard. "And what of it?"', "*slams the tankard.* | And what of it?"),
    ('"And what of it?" Mira slams the tankard.', "And what of it? | *slams the tankard.*"),
    ('*Mira slams the tankard.* "And what of it?"', "*slams the tankard.* | And what of it?"),
    ("**Mira** *wipes her hands*: Sit down.", "*wipes her hands* | Sit down."),
    ("Well, *wipes both her hands* that's that.", "Well, | *wipes both her hands* | that's that."),
    (
        "*slams the tankard\nand turns away* What now?",
        "*slams the tankard and turns away* | What now?",
    ),
    ("(lacht leise) Was willst du?", "*lacht leise* | Was willst du?"),
    ("Mira lacht leise. „Was willst du?“", "*lacht leise.* | Was willst du?"),
    ("_ríe_ ¿Qué quieres?", "*ríe* | ¿Qué quieres?"),
    ("Mira rit. « Que veux-tu ? »", "*rit.* | Que veux-tu ?"),
    ("[смеётся] Чего тебе?", "*смеётся* | Чего тебе?"),
    ("（笑う）何の用だ。", "*笑う* | 何の用だ。"),
    ("【笑う】何の用だ。", "*笑う* | 何の用だ。"),
    ("Mira笑う。「何の用だ。」", "*笑う。* | 何の用だ。"),
    ("(Mira slams the tankard.) What now?", "*slams the tankard.* | What now?"),
    ("*slams the tankard", "*slams the tankard*"),
]
"""Lines as models write them, each with its parts: gestures in stars, speech plain."""
SPEECH = [
    "I have two (maybe three) cups.",
    "I *really* mean it.",
    'He told me "go home" and I went.',
    "I paid him. (He never thanked me.) So it goes.",
    "Mira is my name.",
    "It's 3 (three) coins.",
    "Call it a_b_c if you like.",
    "Mira keeps the inn, they say.",
    "*Never* do that.",
]


def parts_of(answer: str, size: int = 1000) -> list[tuple[PartKind, str]]:
    """Return the parts of an answer that comes in pieces of ``size`` characters."""
    reader = AnswerReader("Mira")
    pieces = [answer[at : at + size] for at in range(0, len(answer), size)]
    parts = [part for each in pieces for part in reader.feed(each)]
    return [(part.kind, part.text) for part in [*parts, *reader.end()]]


def shown(parts: list[tuple[PartKind, str]]) -> str:
    return " | ".join(f"*{text}*" if kind is PartKind.EMOTE else text for kind, text in parts)


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize(("line", "parts"), DRESSED)
def test_a_gesture_is_done_and_not_spoken(line, parts, size):
    assert shown(parts_of(line, size)) == parts


@pytest.mark.parametrize("line", SPEECH)
def test_what_only_looks_like_a_gesture_is_spoken_as_it_is(line):
    parts = parts_of(line)
    assert {kind for kind, _ in parts} == {PartKind.SPEECH}
    assert " ".join(text for _, text in parts) == line


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (
            "> talk Nell = Green. *holds out a hand* Deal?",
            "talk Nell = Green. | *holds out a hand* | talk Nell = Deal?",
        ),
        ("> whisper Tom: (nods) It is.", "*nods* | whisper Tom: It is."),
        ("> say *nods* It is.", "*nods* | It is."),
        ("> talk Nell = I *really* mean it.", "talk Nell = I *really* mean it."),
        ("> give cup to Tom", "give cup to Tom"),
    ],
)
def test_a_gesture_in_words_to_somebody_divides_them(line, parts):
    assert shown(parts_of(line)) == parts


def test_stress_is_spoken_without_double_marks():
    assert shown(parts_of("I said **never** again.")) == "I said never again."
