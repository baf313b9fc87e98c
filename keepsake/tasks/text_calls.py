"""Tool calls that a server passes on as text, in the markup of a model's family.

A server that does not know a model's markup passes it on as words of the answer. JSON is read by
:mod:`keepsake.tasks.answer` itself. Here are the forms around it and beside it: Mistral's
``[TOOL_CALLS]``, and the tags of Qwen Coder and GLM. Sources: the chat templates of these models.
"""

from __future__ import annotations

import json
import re

from keepsake.ports import ToolCall

_LISTED = re.compile(r"\[TOOL_CALLS\]\s*(?:(?P<name>[\w.-]+)(?:\[CALL_ID\]\w*)?\[ARGS\])?")
_OPENING = re.compile(r"(?:<tool_call>\s*)?(?:<function=|(?<=<tool_call>)[\w.-]+\s*(?:<|\Z))")
_CLOSING = re.compile(r"</(?:tool_call|function)>")
_NAME = re.compile(r"<function=(?P<tagged>[^<>\s]+)>|<tool_call>\s*(?P<bare>[\w.-]+)")
_ARGUMENT = re.compile(
    r"<parameter=(?P<name>[^<>\s]+)>\s*(?P<value>.*?)\s*</parameter>"
    r"|<arg_key>\s*(?P<key>.*?)\s*</arg_key>\s*<arg_value>\s*(?P<text>.*?)\s*</arg_value>",
    re.S,
)


def as_json(line: str) -> str:
    """Return a line without Mistral's mark, and a name before its arguments as JSON."""
    mark = _LISTED.match(line)
    if mark is None:
        return line
    rest = line[mark.end() :].strip()
    name = mark["name"]
    return f'{{"name": {json.dumps(name)}, "arguments": {rest or "{}"}}}' if name else rest


def opens(line: str) -> bool:
    """Whether a line begins a call in tags."""
    return _OPENING.match(line) is not None


def closes(line: str) -> bool:
    """Whether a line ends a call in tags."""
    return _CLOSING.search(line) is not None


def read(text: str) -> ToolCall | None:
    """Return the call in a text with tags; None if it has no name."""
    name = _NAME.search(text)
    if name is None:
        return None
    found = _ARGUMENT.finditer(text)
    given = {each["name"] or each["key"]: each["value"] or each["text"] or "" for each in found}
    return ToolCall(name["tagged"] or name["bare"], given)
