"""Summaries without headings: by a model, or of the most telling sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

from game.mind import extractive, noting, structured, verdict, weighty
from game.mind.errors import SummaryRefused
from game.mind.extractive import Text
from game.mind.perception import for_prompt
from game.mind.source import CURE, Calls, Source, cut_into_parts

_TO_YOU = re.compile(r"^(?P<who>[^:]{1,48} (?:told|asked)) you\b(?=[^:]{0,48}:)")
_YOU_PROMISED = re.compile(r"^You promised\b")


def by_rules(source: Source) -> str:
    """The most telling sentences as lines, what must be kept before them."""
    lines = _texts(source)
    text = _selected(source, lines, source.characters)
    head = ""
    for line in noting.lost(source.must_keep, text):
        longer = f"{head}\n{_line(line)}".strip()
        if len(longer) <= source.characters // 2:
            head = longer
    if not head:
        return text
    return f"{head}\n{_selected(source, lines, source.characters - len(head) - 1, head)}".strip()


def _texts(source: Source) -> list[Text]:
    """The lines of a source, one of an older summary for each line of its own."""
    known = zip(source.lines, source.judged, source.dated, strict=True)
    return [Text(line, score, day) for text, score, day in known for line in structured.plain(text)]


def _selected(source: Source, lines: Sequence[Text], characters: int, head: str = "") -> str:
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
    """What must be kept as a line of a summary: ``- Ada told me: never open the cellar door.``"""
    line = for_prompt(structured.unnumbered(kept))
    line = _YOU_PROMISED.sub("I promised", _TO_YOU.sub(r"\g<who> me", line))
    return f"- {line}" if line.endswith((".", "!", "?", "…", ")")) else f"- {line}."


def by_model(source: Source, call: Calls, part_tokens: int) -> str:
    """Lines or prose by a model, part by part; what is too long is cut to what tells most.

    Raises:
        ModelError: No usable answer.
        SummaryRefused: Every answer failed its checks.
    """
    lines, start, answers = extractive.retold(_texts(source), source.agent), 0, []
    for part in cut_into_parts([each.text for each in lines], source.tokens, part_tokens):
        scores = [each.importance for each in lines[start : start + len(part)]]
        answers.append(_prose_part(source, part, scores, call))
        start += len(part)
    written = "\n".join(answers)
    if not source.limit_tokens or source.fits(written):
        return written
    # Too long even though the model was told: its most telling sentences.
    parts = [Text(line) for line in structured.plain(written)]
    return _selected(source, parts, source.characters) or written[: source.characters]


def _prose_part(source: Source, lines: Sequence[str], scores: Sequence[int], call: Calls) -> str:
    way, weigh = source.way, source.weigh()
    prompt = way.prompt(
        source.tier,
        source.agent,
        lines,
        must_keep=source.must_keep,
        mattered=weighty.named(lines, lambda i, told: weigh(scores[i], told), source.agent),
        words=source.words,
    )
    reason = ""
    for _ in range(call.tries):
        text = verdict.clean(call(prompt, way.stop).text)
        reason = verdict.check(text, [f"- {line}" for line in lines]) or ""
        if not reason:
            return text
    raise SummaryRefused(f"the summary was refused: {reason}", CURE)
