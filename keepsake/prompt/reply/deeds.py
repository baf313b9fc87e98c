"""The deed that somebody's words ask for: what is asked, what is possible, and which is chosen.

A reply is speech. Where the words ask for a deed as well (give, take, go, follow), a second, short
prompt lets the model choose one among those that are possible right now, or none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from keepsake.language.perception import for_prompt
from keepsake.language.words import words
from keepsake.ports import ChatMessage
from keepsake.prompt.grammars import any_of
from keepsake.prompt.options import Options
from keepsake.prompt.parsing import Command

LONGEST = 300
MOST = 9
"""Deeds to choose from; more is no choice for a small model."""
FOLLOW, UNFOLLOW = "follow", "unfollow"
"""Deeds that are no commands of the game."""


class Wish(Enum):
    """What somebody can ask for."""

    GIVE = "give hand lend pass bring"
    TAKE = "take get grab pick fetch collect keep"
    FOLLOW = "follow accompany join come"
    GO = "go walk head lead leave"
    STOP = "stop stay wait leave"


_LEAD = re.compile(
    r"(?:please|kindly|now|then|so|just|well|oh|hey|yes|ok|okay|and|"
    r"(?:can|could|will|would|won['’]t) you(?: like to)?|let['’]s|let us|shall we|why don['’]t you|"
    r"(?:i want|i need|i['’]d like|i would like) you to|you (?:should|must|may|can|have to))"
    r"(?: |$)"
)
"""What stands before the verb of a request."""
_HAVING = re.compile(
    r"(?:(?:may|can|could) i (?:please )?|let me )have\b"
    r"|i(?: want|['’]d like| would like) (?:to have )?(?:the|that|this|your|a|an|some)\b"
)
_LED = re.compile(
    r"(?:take|lead|bring|show) (?:me|us)(?:$| (?:the way|there|to|home|out|up|down|along|with))"
)
_CLAUSE = re.compile(r"[.!?;:,]+\s*|\s+(?:but|and)\s+")
_DECLINED = re.compile(
    r"^\W*no\b|\b(?:can(?:not|['’]t)|won['’]t|will not|shan['’]t|not going to|rather not|refuse|"
    r"must not|mustn['’]t|another (?:day|time)|not (?:today|now|yet)|"
    r"don['’]t (?:want|have|think))\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that can be done now."""

    verb: str  # of a command of the game, or :data:`FOLLOW` or :data:`UNFOLLOW`; empty for nothing
    argument: str  # what follows it
    told: str  # what others see, without the agent's name: ``gives the cup to Tom``
    names: str = ""  # what it is done with: a thing or an exit

    @property
    def command(self) -> Command:
        """The same as a command; of nothing ``wait``."""
        return Command(self.verb, self.argument) if self.verb else Command("wait")


NOTHING = Deed("", "", "refuses, and does nothing")


def asked(said: str, name: str = "") -> frozenset[Wish]:
    """What is asked for in somebody's words: requests only, not every word for a deed.

    Args:
        said: The words.
        name: Of whoever is spoken to, which may stand before the request.
    """
    wishes: set[Wish] = set()
    for clause in _CLAUSE.split(said):
        bare = re.sub(rf"^\W*{re.escape(name)}\b", "", clause, flags=re.I) if name else clause
        wishes |= _wishes_of(bare.strip())
    return frozenset(wishes)


def _wishes_of(clause: str) -> set[Wish]:
    rest = " ".join(clause.casefold().split())
    while lead := _LEAD.match(rest):
        rest = rest[lead.end() :]
    if _HAVING.match(rest):
        return {Wish.GIVE}
    if _LED.match(rest):
        return {Wish.GO}
    verb = rest.partition(" ")[0]
    return {wish for wish in Wish if verb in wish.value.split()}


def declines(answer: str) -> bool:
    """Whether the agent has just said that it will not."""
    return _DECLINED.search(answer) is not None


def possible(
    wishes: frozenset[Wish], said: str, partner: str, options: Options, *, following: bool
) -> tuple[Deed, ...]:
    """The deeds that were asked for and can be done now; empty if there is none.

    Where the words name one of the things or exits, only what is done with it.

    Args:
        wishes: What is asked for.
        said: The words.
        partner: Whose words.
        options: What is there; an agent that stays neither goes nor follows.
        following: Whether the agent follows the partner already.
    """
    give = [
        Deed("give", f"{t} to {partner}", f"gives {t} to {partner}", t) for t in options.carried
    ]
    take = [Deed("get", thing, f"takes {thing}", thing) for thing in options.lying]
    stop = [Deed(UNFOLLOW, partner, f"stops following {partner}")]
    follow = [Deed(FOLLOW, partner, f"follows {partner}")]
    go = [Deed("go", way, f"goes {way}", way) for way in options.exits]
    here, stays = partner in options.people, options.stays
    may = (
        (Wish.GIVE, here, give),
        (Wish.TAKE, True, take),
        (Wish.STOP, following, stop),
        (Wish.FOLLOW, here and not following and not stays, follow),
        (Wish.GO, not stays, go),
    )
    deeds = [each for wish, can, found in may if wish in wishes and can for each in found]
    named = [each for each in deeds if _telling(said) & _telling(each.names)]
    return tuple((named or deeds)[:MOST])


def _telling(text: str) -> set[str]:
    return {word.casefold() for word in words(text)} - {"the", "a", "an", "of", "to"}


# -- the second prompt


def dialogue(name: str, partner: str, said: str, answer: str) -> str:
    """A prompt for a base model, which goes on with what the agent does now."""
    shown = (
        "Piet: Hand me the rope, please.\nAnna: Here you are.\n(Now Anna gives rope to Piet.)\n\n"
        "Piet: Do you take sugar in your tea?\nAnna: Never.\n"
        f"(Now Anna {NOTHING.told}.)\n\n"
    )
    return f"{shown}{_exchange(name, partner, said, answer)}\n(Now {name}"


def grammar(deeds: Sequence[Deed]) -> str:
    """A GBNF grammar of what follows that prompt."""
    return f'root ::= " "? ({any_of([each.told for each in deeds])}) ".)"'


def chat(
    name: str, partner: str, said: str, answer: str, deeds: Sequence[Deed]
) -> tuple[ChatMessage, ...]:
    """The same for an instruct model: a numbered list."""
    listed = "\n".join(f"{i}. {name} {each.told}." for i, each in enumerate(deeds, 1))
    return (
        ChatMessage("system", "You read what two people say, and tell what one of them does then."),
        ChatMessage(
            "user",
            f"{_exchange(name, partner, said, answer)}\n\nWhat does {name} do now?\n{listed}\n"
            "Answer with the number only.",
        ),
    )


def number_grammar(deeds: Sequence[Deed]) -> str:
    """A GBNF grammar of a number of that list."""
    return f'root ::= " "? ({any_of([str(i) for i in range(1, len(deeds) + 1)])})'


def read(answer: str, deeds: Sequence[Deed]) -> Deed:
    """The deed that an answer names, by its words or its number; else :data:`NOTHING`."""
    text = " ".join(answer.split()).casefold()
    told = [each for each in deeds if each.told.casefold() in text]
    if told:
        return max(told, key=lambda each: len(each.told))
    number = re.match(r"\D{0,12}(\d{1,2})\b", text)
    if number and 1 <= int(number[1]) <= len(deeds):
        return deeds[int(number[1]) - 1]
    return NOTHING


def _exchange(name: str, partner: str, said: str, answer: str) -> str:
    heard, spoken = (for_prompt(each, limit=LONGEST) for each in (said, answer))
    return f"{partner}: {heard}\n{name}: {spoken}"
