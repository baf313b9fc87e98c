"""An agent's verbs as a grammar or schema, for servers that can hold a model to one.

llama.cpp takes a GBNF grammar and keeps the line form that a base model writes
best; other servers take a JSON schema, whose answer :func:`from_json` turns back
into a line for :func:`keepsake.tasks.command_line.read_command`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from keepsake.prompt.options import NAMING, Options
from keepsake.prompt.verbs import Takes, Verb

_TEXT_LIMIT, _REASON_LIMIT = 280, 120
# No angle or square brackets: a small model copies the usage lines of its prompt.
_RULES = (
    f"text ::= [^\\x00-\\x1f|{{}}<>\\x5b\\x5d]{{1,{_TEXT_LIMIT}}}\n"
    "title ::= [^\\x00-\\x1f|{}@;=:<>\\x5b\\x5d]{1,40}\nnumber ::= [1-9] [0-9]{0,6}"
)
_NAMES = {
    "way": Takes.EXIT,
    "who": Takes.WHISPER,
    "seen": Takes.THING,
    "lying": Takes.LYING,
    "carried": Takes.CARRIED,
}
"""The rules that are lists of names."""
_FORMS = {
    Takes.NOTHING: "",
    Takes.TEXT: ' " " text',
    Takes.THING: ' " " seen',
    Takes.MAYBE_THING: ' (" " seen)?',
    Takes.LYING: ' " " lying',
    Takes.CARRIED: ' " " carried',
    Takes.EXIT: ' " " way',
    Takes.WHISPER: ' " " who " = " text',
    Takes.GIFT: ' " " carried " to " who',
    Takes.ENTRY: ' " " title ": " text',
    Takes.WORDS: ' " " text',
    Takes.NUMBERS: ' " " number ("-" number)?',
}
"""What follows the verb."""


def verbs_grammar(verbs: Sequence[Verb], options: Options) -> str:
    """A GBNF grammar of one command line, with a blank in front as after a cursor.

    A private reason may follow, behind a bar.

    ``options``: What is there; a verb for which there is nothing is left out.

    Raises:
        ValueError: Nothing is left to do.
    """
    offered = options.offered(verbs)
    if not offered:
        raise ValueError("a grammar needs a verb")
    verb = " | ".join(f"v{i}" for i in range(len(offered)))
    lines = [f'root ::= " "? ({verb}) (" | " text)? "\\n"?']
    lines += [f"v{i} ::= {_form(verb, options)}" for i, verb in enumerate(offered)]
    for rule, takes in _NAMES.items():
        if names := options.of(takes):
            lines.append(f"{rule} ::= {any_of(names)}")
    return "\n".join([*lines, _RULES])


def any_of(texts: Sequence[str]) -> str:
    """The part of a GBNF rule that is any one of these texts."""
    return " | ".join(map(_literal, texts))


def verbs_schema(verbs: Sequence[Verb], options: Options) -> dict[str, Any]:
    """A JSON schema of one command: ``{"verb": …, "argument": …, "reason": …}``.

    What is given or whispered has ``to`` besides.
    """
    return {"anyOf": [_case(verb, options) for verb in options.offered(verbs)]}


def _case(verb: Verb, options: Options) -> dict[str, Any]:
    fields: dict[str, Any] = {"verb": {"type": "string", "enum": [verb.name]}}
    if verb.takes in (Takes.WHISPER, Takes.GIFT):
        fields["to"] = {"type": "string", "enum": list(options.people)}
    fields["argument"] = _argument(verb, options)
    required = list(fields)
    fields["reason"] = {"type": "string", "maxLength": _REASON_LIMIT}
    return {
        "type": "object",
        "properties": fields,
        "required": required,
        "additionalProperties": False,
    }


def _argument(verb: Verb, options: Options) -> dict[str, Any]:
    names = options.of(verb.takes)
    if verb.takes in (Takes.NOTHING, Takes.MAYBE_THING):
        return {"type": "string", "enum": ["", *names]}
    if verb.takes in NAMING and verb.takes is not Takes.WHISPER:
        return {"type": "string", "enum": list(names)}
    return {"type": "string", "maxLength": _TEXT_LIMIT}


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
    argument, to = _string(answer.get("argument")), _string(answer.get("to"))
    if to:
        argument = f"{to} = {argument}" if answer["verb"] == "whisper" else f"{argument} to {to}"
    line = f"{answer['verb']} {argument}".rstrip()
    reason = _string(answer.get("reason"))
    return f"{line} | {reason}" if reason else line


def _form(verb: Verb, options: Options) -> str:
    nothing = verb.takes is Takes.MAYBE_THING and not options.of(verb.takes)
    return f"{_literal(verb.name)}{'' if nothing else _FORMS[verb.takes]}"


def _literal(text: str) -> str:
    """``text`` as a GBNF string; what could end the string or the line is escaped."""
    body = "".join(c if c.isalnum() or c in " -'_" else f"\\U{ord(c):08X}" for c in text)
    return f'"{body}"'


def _string(value: object) -> str:
    """``value`` as one line that cannot be read as a reason; empty if it is no string."""
    return " ".join(value.replace("|", "/").split()) if isinstance(value, str) else ""
