"""What pages say of where an act has its words from: lines of its prompt, or what others heard."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from keepsake.agent.why.why import Why
from keepsake.archive.log import Archive
from keepsake.happening import own_deed_of, shown_speech
from keepsake.regular_files import read_text
from keepsake.web.questions.going_on import OwnWords, goes_on_from
from keepsake.web.questions.grounds import Elsewhere, Ground, elsewhere, grounds_of
from keepsake.web.questions.motive import Motive, motive_of
from keepsake.web.remembered import TEXTS

_TEMPLATES = ("talk.md", "act.md")
"""The templates of the prompts by which agents speak and act."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """From where an act has its words.

    Attributes:
        lines: Lines of its prompt, what has most first.
        elsewhere: What some agent heard and the prompt did not have; None if the prompt lacks no
            words, or nobody heard them.
        missing: Words of the act that stand nowhere in its prompt, nor in what it answers.
        heard_by: The number and the name of that agent.
        motive: What it had reason to think of; None if nothing is known to bear on the act.
        goes_on: Its own last words from which it goes on, oldest first.
    """

    lines: Sequence[Ground] = ()
    elsewhere: Elsewhere | None = None
    missing: Sequence[str] = ()
    heard_by: tuple[int, str] = (0, "")
    motive: Motive | None = None
    goes_on: Sequence[OwnWords] = ()

    @property
    def shown(self) -> Sequence[Ground]:
        """The lines, without those that are guessed if it is known what it had reason to think of.

        Its own earlier words are a guess, too. What it keeps is not told twice.
        """
        kept = self.motive.memory if self.motive else None
        lines = (each for each in self.lines if each.known or self.motive is None)
        return [each for each in lines if kept is None or each.memory != kept]

    @property
    def heard(self) -> str:
        """What that agent heard, or said itself, as somebody else would tell it; else empty."""
        memory = self.elsewhere.memory if self.elsewhere else None
        if memory is None:
            return ""
        what = memory.said
        if what is None:
            return memory.line
        return shown_speech(self.heard_by[1], what.words, what.to, what.manner)


NOT_KNOWN = Grounds()


def grounds(
    archive: Archive,
    why: Why,
    prompt: str,
    number: int,
    *,
    folders: Sequence[tuple[int, str, Path]],
    config: Path,
) -> Grounds:
    """Return from where an act has its words; blocks.

    Args:
        archive: The agent's.
        prompt: The text that was sent; empty if it is not known.
        number: The agent's.
        folders: Number, name and folder of each agent.
        config: The folder of the settings, which has the templates.
    """
    # What the agent itself heard once comes before what it cannot know.
    own_first = sorted(folders, key=lambda each: each[0] != number)
    texts = {str(each): TEXTS.of(folder / "archive") for each, _, folder in own_first}
    own = texts.get(str(number), ())
    lines, missing = grounds_of(archive, why, prompt, _rules(config / "prompts"), own)
    found = elsewhere(why, texts, missing, str(number)) if missing else None
    names = {str(each): (each, name) for each, name, _ in folders}
    told = [_as_told(each, why.agent) for each in lines]
    return Grounds(
        lines=told,
        elsewhere=found,
        missing=missing,
        heard_by=names[found.agent] if found else (0, ""),
        motive=motive_of(archive, why, prompt, own, grounded=bool(told)),
        goes_on=goes_on_from(archive, why, own),
    )


def _as_told(ground: Ground, agent: str) -> Ground:
    """Return a line as somebody else would tell it: an agent's own words say who spoke."""
    if ground.memory is None:
        return ground
    return replace(ground, text=own_deed_of(ground.memory.what, agent) or ground.memory.text)


def _rules(folder: Path) -> str:
    texts = []
    for name in _TEMPLATES:
        with suppress(OSError, UnicodeDecodeError):
            texts.append(read_text(folder / name))
    return "\n".join(texts)
