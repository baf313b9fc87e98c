"""Which memory an agent is to have: ``memory: rag`` at the head of its ``profile.md``."""

from __future__ import annotations

from pathlib import Path

import frontmatter
import yaml

from keepsake.agent.agent_log import log
from keepsake.books.files import replace_file
from keepsake.memory import protocol

PROFILE_FILE = "profile.md"
"""In an agent's folder."""
MEMORY = "memory"


def memory_named(path: Path) -> str:
    """The memory that a profile names; empty for ours, and where it cannot be read."""
    if not path.exists():  # as a rule: who the agent is stands in the world's database
        return ""
    try:
        named = str(frontmatter.loads(path.read_text(encoding="utf-8")).get(MEMORY) or "")
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        log(f"[Error] {path} cannot be read, so the agent has the usual memory: {error}")
        return ""
    return "" if named in protocol.OURS else named


def told(name: str) -> str:
    """What it is called, and what there is, for a builder."""
    return f"{name or protocol.KEEPSAKE}. There are: {', '.join(protocol.names())}"


def name_memory(path: Path, name: str) -> None:
    """Have a profile name a memory, whatever else it says; an empty name for ours.

    Raises:
        KeepsakeError: There is no such memory.
        OSError, UnicodeDecodeError, yaml.YAMLError: The file cannot be read or written.
    """
    if name not in protocol.OURS:
        protocol.maker(name)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    post = frontmatter.loads(text)
    post.metadata.pop(MEMORY, None)
    if name not in protocol.OURS:
        post[MEMORY] = name
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, frontmatter.dumps(post) + "\n")
