"""What a model put into an agent's mouth, made fit to be said aloud.

Small models run on: they continue the scene for everybody, recite, or remember
that they are language models. What is said in the world is short, their own,
and holds nothing that the game would read as markup.
"""

from __future__ import annotations

import re

from keepsake.language.perception import for_prompt
from keepsake.language.words import sentences

LONGEST_SPEECH = 300
"""Characters of one line of speech; longer ones end at the last sentence before."""

_MODEL_TALK = re.compile(
    r"\b(?:as an? (?:ai|a\.i\.|artificial|large language|language model|virtual|digital|chatbot)"
    r"|(?:large )?language model|ai (?:assistant|model|system|language)|artificial intelligence"
    r"|i(?:'m| am|’m) (?:just |only )?(?:an? )?(?:ai\b|chatbot|bot\b|computer program)"
    r"|chat ?gpt|openai|anthropic|trained by google|my training data|my programming)",
    re.I,
)
_SAID = (
    r"(?:says?|said|asks?|asked|repl(?:y|ies|ied)|answers?|answered|whispers?|whispered|shouts?"
    r"|exclaims?|adds?|added)"
)
# Somebody else's line inside one's own: the script went on. A name, a verb, a quote.
_CONTINUED = re.compile(
    rf"[\"”]?\s+(?:[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)?|You|He|She|They)\s+{_SAID}"
    r"(?:\s+to\s+\w+)?\s*[,:]?\s*[\"“]"
)
_CURSOR = re.compile(r"~[^~<>\s][^~<>]{0,40}>")
# Where a line of the prompt comes from: of use to whoever reads it, strange in a mouth.
_REFERENCE = re.compile(r"\s*(?:…\s*)?\(memor(?:y|ies) \d[\d ,–-]*(?:\)|$)", re.I)
_QUOTES = '"“”„«»`'
_CLOSED = re.compile(r"^[\"“„«](.+?)[\"”»](?:\s*$|[\s,].*)")
SPEAKER = re.compile(r"^[A-Z][\w'’-]{1,23}(?: [A-Z][\w'’-]{1,23})?:\s+(?=\S)")
"""A name and a colon, as in a script, before what is said."""
_FUNCTION = re.compile(r"\$(?=[A-Za-z_]\w*\s*\()")
_STANDINS = str.maketrans({"|": "¦", "{": "(", "}": ")", "\\": "/"})


def tidy_speech(text: str) -> str:
    """``text`` as it can be said; empty if nothing of it can.

    Quotes around it go, and so do lines of others, talk of being a model, the numbers
    of memories, and markup; it ends below :data:`LONGEST_SPEECH` characters, at a sentence if
    there is one.
    """
    text = text.strip()
    went_on = (match.start() for p in (_CURSOR, _CONTINUED) if (match := p.search(text)))
    text = text[: min(went_on, default=None)]
    if quoted := _CLOSED.match(text):
        text = quoted[1]
    text = disarm(_REFERENCE.sub("", text).strip().strip(_QUOTES).strip())
    kept = [s for s in sentences(text) if not _MODEL_TALK.search(s)]
    return _short(" ".join(kept)) if any(c.isalnum() for c in "".join(kept)) else ""


def paired(said: str) -> str:
    """Without quotation marks where one has lost its fellow."""
    return " ".join((said.replace('"', "") if said.count('"') % 2 else said).split())


def disarm(text: str) -> str:
    """``text`` with nothing left that the game or a model would take for machinery."""
    return _FUNCTION.sub("", for_prompt(text, limit=4 * LONGEST_SPEECH).translate(_STANDINS))


def _short(text: str) -> str:
    if len(text) <= LONGEST_SPEECH:
        return text
    head = text[:LONGEST_SPEECH]
    ends = [match.end() for match in re.finditer(r"[.!?…][\"”’)]*(?=\s)", head)]
    if ends and ends[-1] > LONGEST_SPEECH // 4:
        return head[: ends[-1]]
    return f"{head[: LONGEST_SPEECH - 1].rsplit(' ', 1)[0]}…"
