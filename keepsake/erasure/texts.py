"""Removes a person's words from texts and from JSON or YAML values."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime
from typing import Any

import frontmatter
import yaml

from keepsake.erasure.traces import Traces
from keepsake.language.perception import sentences

_FORMAT = frozenset(
    {"change", "last", "model", "outcome", "reason", "rung", "state", "t", "tier", "type"}
)
"""The fields of archive lines that hold a time or a word of Keepsake's own."""
_MARK = "<!-- "
"""Starts a comment in which a file describes itself."""


class TextCleaner:
    """Cleans the texts of one agent.

    Args:
        agent: The agent's folder, as in :attr:`Traces.numbers`.
    """

    def __init__(self, traces: Traces, agent: str) -> None:
        self.traces = traces
        self._agent = agent

    def matches(self, text: str) -> bool:
        """Return whether the text contains their name or words, or cites a memory of theirs."""
        return self.traces.matches(text, self._agent)

    def without(self, text: str) -> str:
        """Return ``text`` without the lines and sentences that contain their words or name."""
        return "\n".join(
            kept for line in text.split("\n") if (kept := self._kept(line)) is not None
        )

    def _kept(self, line: str) -> str | None:
        if line.startswith(_MARK) or not self.matches(line):
            return line
        left = " ".join(each for each in sentences(line) if not self.matches(each))
        return left if any(map(str.isalnum, left)) else None

    def cleaned(self, value: Any) -> Any:
        """Return a JSON or YAML value without their words, and without entries that hold them."""
        if isinstance(value, str):
            return value if _is_moment(value) else self.without(value)
        if isinstance(value, list | tuple):
            return [self.cleaned(each) for each in value if not self._theirs(each)]
        if isinstance(value, dict):
            person = self.traces.person
            names = (k for k in value if not (person.is_named_by_key(k) or self.traces.named(k)))
            return {k: self.cleaned(value[k]) for k in names}
        return value

    def cleaned_line(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a line of an archive without their words.

        Its fields stay, and what is no text: without them the line could not be read.
        """
        return {
            name: value if name in _FORMAT else self._cleaned_field(value)
            for name, value in record.items()
        }

    def _cleaned_field(self, value: Any) -> Any:
        return self.cleaned_line(value) if isinstance(value, dict) else self.cleaned(value)

    def _theirs(self, value: Any) -> bool:
        if isinstance(value, dict):
            return any(self._theirs(each) for each in value.values())
        if isinstance(value, list | tuple):
            return any(self._theirs(each) for each in value)
        return isinstance(value, str) and not _is_moment(value) and self.matches(value)

    def cleaned_json(self, text: str) -> str:
        """Return a JSON file without their words."""
        try:
            return json.dumps(self.cleaned(json.loads(text)), ensure_ascii=False)
        except ValueError:
            return self.without(text)

    def cleaned_page(self, text: str) -> str:
        """Return a markdown file without their words, and without entries that lose their text."""
        try:
            post = frontmatter.loads(text)
        except (ValueError, yaml.YAMLError):
            return self.without(text)
        post.metadata = self.cleaned(post.metadata)
        head, *sections = self.without(post.content).split("\n## ")
        post.content = "\n## ".join([head, *(each for each in sections if not _emptied(each))])
        return str(frontmatter.dumps(post)) + "\n" if post.metadata else post.content + "\n"


def _is_moment(text: str) -> bool:
    """Return whether a text is a date and time as Keepsake writes it. It is nobody's words."""
    if "T" not in text:
        return False
    with suppress(ValueError):
        datetime.fromisoformat(text)
        return True
    return False


def _emptied(section: str) -> bool:
    """Return whether a journal entry has lost its text and has only fields left."""
    lines = [line for line in section.split("\n")[1:] if line.strip()]
    return bool(lines) and all(line.startswith("- **") for line in lines)
