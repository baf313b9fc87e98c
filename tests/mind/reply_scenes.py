"""Scenes for the tests of replies: Mira, Tom, and what was said, by the doors the game uses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from keepsake.archive.records import SHRUG, Memory, MemoryKind
from keepsake.language.perception import for_prompt
from keepsake.prompt.reply import material
from keepsake.prompt.reply.context import ReplyContext
from keepsake.prompt.reply.material import Sentence
from keepsake.prompt.reply.turns import turns_with, unanswered
from keepsake.prompt.reply.worth import Ranker, Scored

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
PROFILE = (
    "You are Mira Fenn, forty-four, keeper of the Kettle, the only inn in Withy Hythe. You are "
    "warm and quick, and you feed people before you question them. Since a fever two winters ago "
    "you can taste nothing. Your mother's blue cup is gone from its hook and you want it back.\n"
    "Others you know. Oswin: he alone knows that you taste nothing."
)
EXAMPLES = (
    "Piet has entered the game.",
    "~Mira> say Come in, you're letting the weather in. Soup, or a chair first? | a new face",
    'Piet says to you, "Evening. What\'s good tonight?"',
    "~Mira> say The leek soup. Sit by the fire, Piet, you look half drowned. | he is shivering",
)


def heard(text: str, number: int = 1, *, source: str = "Tom", event: str = "talk") -> Memory:
    """Something that Mira perceived, a minute after the memory before."""
    time = NOON + timedelta(minutes=number)
    return Memory(number, time, MemoryKind.PERCEPTION, text, "The Kettle", source, event=event)


def said_to_her(words: str, number: int = 1, source: str = "Tom") -> Memory:
    """What somebody said to Mira."""
    return heard(f'{source} says to you, "{words}"', number, source=source)


def did(text: str, number: int = 1, to: str = "", *, shrug: bool = False) -> Memory:
    """What Mira did herself."""
    time = NOON + timedelta(minutes=number)
    event = SHRUG if shrug else ""
    return Memory(number, time, MemoryKind.ACT, text, "The Kettle", event=event, to=to)


def talk(*lines: str, partner: str = "Tom") -> list[Memory]:
    """A talk, turn about: the partner first."""
    return [
        said_to_her(words, number, partner) if number % 2 else did(f"say {words}", number, partner)
        for number, words in enumerate(lines, start=1)
    ]


def scene(
    window: Sequence[Memory],
    *,
    partner: str = "Tom",
    profile: str = PROFILE,
    others: tuple[str, ...] = (),
    more: Iterable[Sentence] = (),
    event: str = "",
    examples: tuple[str, ...] = EXAMPLES,
) -> ReplyContext:
    """What Mira would answer from, ranked by words alone."""
    turns = turns_with(window, partner)
    waiting = unanswered(turns)
    said = tuple(turn.words for turn in waiting)
    told = [s for s in material.WindowReader().read(window, partner) if s.bare not in said]
    found = [*material.of_profile(profile), *more, *told]
    words = " ".join(said) or event
    ranked: list[Scored] = Ranker(None).rank(words, found)
    return ReplyContext(
        name="Mira",
        profile=profile,
        place="The Kettle",
        partner=partner,
        said=said,
        event="" if said else for_prompt(event or f"{partner} comes in.", limit=material.LONGEST),
        others=others,
        ranked=tuple(ranked),
        turns=tuple(turn for turn in turns if turn not in waiting),
        examples=examples,
    )
