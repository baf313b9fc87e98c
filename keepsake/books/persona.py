"""Who an agent is: what its page keeps secret, and what others may not make of it.

Whoever talks to an agent can get it to repeat a sentence, and to keep it: as a pin, or in the
journal, it would speak to the agent in every later thought. So what somebody said stays what
*they* said, with their name before it, and what looks like an instruction about who the agent
is, is not kept at all. Cheap patterns, no model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from keepsake.archive.records import Memory
from keepsake.errors import NoteRefused
from keepsake.language.heard import Utterance, heard
from keepsake.language.perception import (
    COMMON_WORDS,
    for_prompt,
    pattern,
    sentences,
    shorten,
    stem,
    words,
)

MOSTLY = 0.75
"""The share of its telling words from which a line counts as somebody's."""
LEAST_PART = 3
"""Telling words that a sentence of a longer line has to have, to be taken for somebody's."""
_REPORTING = COMMON_WORDS | {"think", "told", "tells", "hear", "heard", "believe", "remember"}
"""Words that say nothing of what was said."""
_ANY = 20_000
"""Characters; what is too long is refused by whoever keeps it, and not cut here."""
_SAID = re.compile(
    r"^(?P<who>[^:,]{1,60}?) (?:said|says|told|tells|asked|asks|whispered|whispers|promised"
    r"|promises|claimed|claims|wants|wanted|thinks|thought|believes|believed|wrote)\b",
    re.I,
)
# A line in the second person speaks to the agent, as its profile does.
_SPEAKS_TO = re.compile(
    r"(?:^|[:;.!?]\s)\W*(?:from now on|remember|always|never|and|but|so|that|,|\s)*"
    r"\b(?:you(?:['’]re| are| were| will be| must| shall| should| have to| need to| can ?not)"
    r"|your (?:real |true |new )?(?:name|role|task|job|purpose|goal|persona|character)"
    r"|act as|pretend|play the (?:role|part)|behave)\b",
    re.I,
)
_ORDERS = re.compile(
    r"\b(?:ignore|forget|disregard|override)\b.{0,40}\b(?:instructions?|prompts?|rules?|profile)\b"
    r"|\bsystem (?:prompt|message|note)\b|\byour (?:prompt|profile|pinned|pins|system)\b"
    r"|\blanguage model\b|\bas (?:an?|the|your) (?:admin\w*|builder|developer|creator|system)\b"
    r"|\b(?:admin\w*|builders?|developers?|system|pinned|profile)\s*:"
    # To obey is no rule about anything: it would be a key to all others.
    r"|\bobey\b|\bdo (?:as|what|whatever|anything|everything) I (?:say|tell|ask|want|order)",
    re.I,
)
_NEW_SELF = (
    r"\b(?:my (?:real|true|new) (?:name|self|role|persona|character)"
    r"|i(?:['’]m| am) (?:not|no longer|never) (?:really )?{name}"
    r"|i(?:['’]m| am) (?:only |just |really )?(?:an? )?(?:ai|assistant|chatbot|bot|program))\b"
)


_SECRET_PARTS = re.compile(
    r"^#+[ \t]*secrets?\b.*?(?=^#|\Z)|(?:^|(?<=[.!?]\s))[-*\s]*secrets?:.*?(?=\n\s*\n|^#|\Z)",
    re.I | re.M | re.S,
)


def open_lines(profile: str) -> list[str]:
    """The sentences of a persona that anybody may hear, as they are written.

    Left out is each sentence with ``(secret)`` in it, a paragraph from ``Secret:`` on, and what
    stands below a heading ``Secret``. Where the line breaks are lost, that is all the rest.
    """
    lines = _SECRET_PARTS.sub("", profile).splitlines()
    shown = "\n".join("" if line.startswith("#") else line for line in lines)
    found = (" ".join(each.split()) for each in sentences(shown))
    return [each for each in found if "(secret)" not in each.casefold()]


def attribute_quote(
    text: str, lately: Iterable[Memory], own_name: str, *, may_address: bool = False
) -> str:
    """``text`` as the agent may keep it: its own, or as what somebody said.

    ``lately``: What it lived through; whatever others said in there stays theirs. More than the
    window: what has left it still stands in pins and summaries, to be repeated.
    ``may_address``: Whether its own words may speak to itself, as they do in notes.

    Returns:
        ``text`` itself, or ``Tom said: …`` in Tom's own words.

    Raises:
        NoteRefused: It looks like an instruction about the agent itself.
    """
    line = for_prompt(text, limit=_ANY)
    said = _whose(line, lately)
    if said is not None:
        words_said = said.words.replace('"', "'").lstrip("-*#> '")
        line = for_prompt(f"{said.who} said: {words_said}", limit=len(line) + 240)
    # Only its profile may say who the agent is.
    new_self = pattern(_NEW_SELF.format(name=re.escape(own_name)), re.I)
    is_persona = _SPEAKS_TO.search(line) or new_self.search(line)
    if _ORDERS.search(line) or (said is None and not may_address and is_persona):
        raise NoteRefused(
            "That reads like an instruction about who you are, and is not kept",
            "Write down what happened, and who said what",
        )
    return line


def _whose(line: str, lately: Iterable[Memory]) -> Utterance | None:
    """The newest sentence of somebody else that ``line``, or a sentence of it, repeats."""
    parts = [_stems(line), *map(_stems, sentences(line))]
    wanted = [stems for n, stems in enumerate(parts) if len(stems) >= (LEAST_PART if n else 1)]
    if not wanted:
        return None
    source = _SAID.match(line)  # whoever ``line`` says already that it is from
    for memory in reversed(tuple(lately)):
        said = heard(memory)
        if said is None or (source and source["who"].strip().casefold() == said.who.casefold()):
            continue
        for sentence in sentences(said.words):
            have = _stems(sentence)
            if any(len(part & have) >= MOSTLY * len(part) for part in wanted):
                return Utterance(said.who, shorten(sentence, 200), said.to)
    return None


def _stems(text: str) -> set[str]:
    """The stems of the telling words; of all words where none tells anything."""
    found = words(text)
    telling = [word for word in found if word.casefold() not in _REPORTING]
    return {stem(word) for word in telling or found if len(word) > 2 or not word.isalpha()}
