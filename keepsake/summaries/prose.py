"""Summaries without headings: by a model, or of the most telling sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from keepsake.compaction import key_memories
from keepsake.language.perception import for_prompt
from keepsake.language.words import closed, telling
from keepsake.summaries import draft_checks, extractive, sections, verification
from keepsake.summaries.extractive import Text
from keepsake.summaries.retelling import as_list, day_in, without_day
from keepsake.summaries.source import TRIES, Calls, SummarySource, cut_into_parts, refused

_SHOWN = 1.2
"""How many times the room of its summary a model is shown."""
_TO_YOU = re.compile(r"^(?P<who>[^:]{1,48} (?:told|asked)) you\b(?=[^:]{0,48}:)")
_YOU_PROMISED = re.compile(r"^You promised\b")


def by_rules(source: SummarySource) -> str:
    """The most telling sentences as lines, what must be kept before them."""
    lines = _texts(source)
    text = _selected(source, lines, source.characters)
    head = ""
    for line in verification.lost(source.must_keep, (text,)):
        longer = f"{head}\n{_line(line)}".strip()
        head = longer if len(longer) <= source.characters // 2 else head
    if not head:
        return text
    return f"{head}\n{_selected(source, lines, source.characters - len(head) - 1, head)}".strip()


def _texts(source: SummarySource) -> list[Text]:
    """The lines of a source, one of an older summary for each line of its own."""
    known = zip(source.lines, source.importance, source.days, strict=True)
    return [Text(line, score, day) for text, score, day in known for line in sections.plain(text)]


def _selected(source: SummarySource, lines: Sequence[Text], characters: int, head: str = "") -> str:
    """As many sentences as fit, by the count of tokens in the end."""
    text, weigh = "", source.weigh()
    for _ in range(12):
        if characters < 1:
            return ""
        text = extractive.summarize(lines, max_chars=characters, own_name=source.agent, weigh=weigh)
        if not text or source.fits(f"{head}\n{text}".strip()):
            return text
        over = source.tokens(f"{head}\n{text}".strip()) / max(source.limit_tokens, 1)
        characters = min(int(len(text) / over), characters - 1)
    return ""


def _line(kept: str) -> str:
    """What must be kept as a line of a summary: ``- Ada told me: never open it.``."""
    line = for_prompt(sections.unnumbered(kept))
    line = _YOU_PROMISED.sub("I promised", _TO_YOU.sub(r"\g<who> me", line))
    return f"- {closed(line)}"


def by_model(source: SummarySource, call: Calls, part_tokens: int) -> str:
    """Lines by a model, part by part; what is too long is cut to what tells most.

    It is shown more than there is room for, chosen without it: a small model that is to choose
    among a hundred lines takes the first ones.

    Raises:
        ModelError: No usable answer.
        SummaryRefused: Every answer failed its checks.
    """
    if together := _together(source):
        return together
    shown = extractive.select(
        _texts(source),
        max_chars=int(_SHOWN * source.characters),
        own_name=source.agent,
        weigh=source.weigh(),
    )
    bare = [replace(each, text=without_day(each.text)) for each in shown]
    parts = cut_into_parts([each.text for each in bare], source.tokens, part_tokens)
    answers = [_part(source, bare[where], part, call) for where, part in parts]
    written = _dated("\n".join(answers), shown)
    if source.fits(written):
        return written
    # Too long even though the model was told: its most telling sentences.
    told = [Text(line) for line in sections.plain(written)]
    return _selected(source, told, source.characters) or written[: source.characters]


def _together(source: SummarySource) -> str:
    """Older summaries one after the other, if they are lines and fit; that needs no model."""
    lists = all(text.startswith("- ") for text in source.lines)
    lines = [line for text in source.lines for line in sections.plain(text)]
    text = as_list(dict.fromkeys(lines))
    return text if lists and source.fits(text) else ""


def _part(source: SummarySource, texts: Sequence[Text], lines: Sequence[str], call: Calls) -> str:
    mattered = key_memories.named(lines, lambda at, _: texts[at].importance, source.agent)
    prompt = source.prompt(lines, mattered=mattered)
    # A prompt may end with the sign of the first line.
    opened = "- " if prompt.endswith("\n- ") else ""
    reason = ""
    for _ in range(TRIES):
        text = draft_checks.clean(opened + call(prompt, source.way.stop).text)
        reason = draft_checks.check(text, [f"- {line}" for line in lines]) or ""
        if not reason:
            return text
    raise refused(reason)


def _dated(written: str, shown: Sequence[Text]) -> str:
    """``written`` with the day of the line that each of its lines was made of."""
    if "\n" not in written and not written.startswith("- "):
        return written
    terms = [telling(each.text) for each in shown]
    lines = []
    for line in sections.plain(written):
        own = telling(line)
        best = max(range(len(shown)), key=lambda at: len(own & terms[at]), default=None)
        sure = best is not None and 2 * len(own & terms[best]) > len(own)
        day = day_in(shown[best].text) if best is not None and sure else ""
        lines.append(f"{day}: {line}" if day and not day_in(line) else line)
    return as_list(lines)
