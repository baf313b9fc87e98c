"""Removes a person's words from texts and from JSON or YAML values."""

from __future__ import annotations

import json
from typing import Any

import frontmatter
import yaml

from keepsake.erasure.traces import Traces
from keepsake.language.perception import sentences

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
            return self.without(value)
        if isinstance(value, list | tuple):
            return [self.cleaned(each) for each in value if not self._theirs(each)]
        if isinstance(value, dict):
            key = self.traces.person.key
            names = (k for k in value if key not in k and not self.traces.named(k))
            return {k: self.cleaned(value[k]) for k in names}
        return value

    def _theirs(self, value: Any) -> bool:
        if isinstance(value, dict):
            return any(self._theirs(each) for each in value.values())
        if isinstance(value, list | tuple):
            return any(self._theirs(each) for each in value)
        return isinstance(value, str) and self.matches(value)

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


def _emptied(section: str) -> bool:
    """Return whether a journal entry has lost its text and has only fields left."""
    lines = [line for line in section.split("\n")[1:] if line.strip()]
    return bool(lines) and all(line.startswith("- **") for line in lines)
