"""An agent's verbs as a grammar or schema, for servers that can hold a model to one.

llama.cpp takes a GBNF grammar and keeps the line form that a base model writes
best; other servers take a JSON schema, whose answer :func:`from_json` turns back
into a line for :func:`game.mind.answer.parse`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from game.mind.verbs import Takes, Verb

_TEXT_LIMIT = 280
# No angle or square brackets: a small model copies the usage lines of its prompt.
_RULES = (
    f"text ::= [^\\x00-\\x1f|{{}}<>\\x5b\\x5d]{{1,{_TEXT_LIMIT}}}\n"
    "thing ::= [^\\x00-\\x1f|{}@;=<>\\x5b\\x5d]{1,60}\n"
    "title ::= [^\\x00-\\x1f|{}@;=:<>\\x5b\\x5d]{1,40}\nnumber ::= [1-9] [0-9]{0,6}"
)


def verbs_grammar(
    verbs: Sequence[Verb], exits: Sequence[str] = (), present: Sequence[str] = ()
) -> str:
    """A GBNF grammar of one command line, with a blank in front as after a cursor.

    A private reason may follow, behind a bar.

    Args:
        verbs: The verbs that exist; at least one.
        exits: Narrows exits to these, if there are any.
        present: Narrows the people spoken to or given to, if there are any.

    Raises:
        ValueError: There is no verb.
    """
    if not verbs:
        raise ValueError("a grammar needs a verb")
    way = " | ".join(_literal(name) for name in exits) or "thing"
    who = " | ".join(_literal(name) for name in present) or "thing"
    verb = " | ".join(f"v{i}" for i in range(len(verbs)))
    lines = [f'root ::= " "? ({verb}) (" | " text)? "\\n"?']
    lines += [f"v{i} ::= {_form(verb)}" for i, verb in enumerate(verbs)]
    return "\n".join([*lines, f"way ::= {way}", f"who ::= {who}", _RULES])


def verbs_schema(verbs: Sequence[Verb]) -> dict[str, Any]:
    """A JSON schema of one command: ``{"verb": …, "argument": …, "reason": …}``."""
    return {
        "type": "object",
        "properties": {
            "verb": {"type": "string", "enum": [verb.name for verb in verbs]},
            "argument": {"type": "string", "maxLength": _TEXT_LIMIT},
            "reason": {"type": "string", "maxLength": 120},
        },
        "required": ["verb", "argument"],
        "additionalProperties": False,
    }


def from_json(text: str) -> str:
    """The command line that an answer after :func:`verbs_schema` stands for.

    Text that is no such JSON comes back as it is: the line parser judges it.
    """
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(answer, Mapping) or not isinstance(answer.get("verb"), str):
        return text
    line = f"{answer['verb']} {_string(answer.get('argument'))}".rstrip()
    reason = _string(answer.get("reason"))
    return f"{line} | {reason}" if reason else line


def _form(verb: Verb) -> str:
    word = _literal(verb.name)
    forms = {
        Takes.NOTHING: word,
        Takes.TEXT: f'{word} " " text',
        Takes.THING: f'{word} " " thing',
        Takes.MAYBE_THING: f'{word} (" " thing)?',
        Takes.EXIT: f'{word} " " way',
        Takes.WHISPER: f'{word} " " who " = " text',
        Takes.GIFT: f'{word} " " thing " to " who',
        Takes.ENTRY: f'{word} " " title ": " text',
        Takes.WORDS: f'{word} " " text',
        Takes.NUMBERS: f'{word} " " number ("-" number)?',
    }
    return forms[verb.takes]


def _literal(text: str) -> str:
    """``text`` as a GBNF string; what could end the string or the line is escaped."""
    body = "".join(c if c.isalnum() or c in " -'_" else f"\\U{ord(c):08X}" for c in text)
    return f'"{body}"'


def _string(value: object) -> str:
    """``value`` as one line that cannot be read as a reason; empty if it is no string."""
    return " ".join(value.replace("|", "/").split()) if isinstance(value, str) else ""
