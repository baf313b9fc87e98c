"""Summaries in prose: by a model, or of the most telling sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

from game.mind import extractive, noting, structured, verdict, weighty
from game.mind.errors import SummaryRefused
from game.mind.perception import for_prompt
from game.mind.source import CURE, Calls, Source, cut_into_parts

_PRIVATE_REASON = re.compile(r"\s\|\s+\S.*$", re.S)


def by_rules(source: Source) -> str:
    """The most telling sentences as one paragraph, what must be kept before them."""
    lines = _plain(source, source.lines)
    text = _selected(source, lines, source.characters)
    head = ""
    for line in noting.lost(source.must_keep, text):
        longer = f"{head} {_sentence(line)}".strip()
        if len(longer) <= source.characters // 2:
            head = longer
    if not head:
        return text
    return f"{head} {_selected(source, lines, source.characters - len(head) - 1, head)}".strip()


def _plain(source: Source, texts: Sequence[str]) -> list[tuple[str, int]]:
    """The lines of a source, one of an older summary for each note, with what each matters."""
    judged = zip(texts, source.judged, strict=True)
    return [(line, score) for text, score in judged for line in structured.plain(text)]


def _selected(
    source: Source, lines: Sequence[tuple[str, int]], characters: int, head: str = ""
) -> str:
    """As many sentences as fit, by the count of tokens in the end."""
    text, weigh = "", source.weigh()
    for _ in range(12):
        if characters < 1:
            return ""
        text = extractive.summarize(
            [line for line, _ in lines],
            max_chars=characters,
            own_name=source.agent,
            importance=[score for _, score in lines],
            weigh=weigh,
        )
        if not text or source.fits(f"{head} {text}".strip()):
            return text
        over = source.tokens(f"{head} {text}".strip()) / max(source.limit_tokens, 1)
        characters = min(int(len(text) / over), characters - 1)
    return ""


def _sentence(line: str) -> str:
    line = for_prompt(line)
    return line if line.endswith((".", "!", "?", "…", ")")) else f"{line}."


def by_model(source: Source, call: Calls, part_tokens: int) -> str:
    """Prose by a model, part by part; what is too long in the end is cut to what tells most.

    Raises:
        ModelError: No usable answer.
        SummaryRefused: Every answer failed its checks.
    """
    texts = [_PRIVATE_REASON.sub("", x) if x.startswith("~") else x for x in source.lines]
    lines, start, answers = _plain(source, texts), 0, []
    for part in cut_into_parts([line for line, _ in lines], source.tokens, part_tokens):
        scores = [score for _, score in lines[start : start + len(part)]]
        answers.append(_prose_part(source, part, scores, call))
        start += len(part)
    written = " ".join(answers)
    if not source.limit_tokens or source.fits(written):
        return written
    # Too long even though the model was told: its most telling sentences.
    return _selected(source, [(written, 0)], source.characters) or written[: source.characters]


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
        reason = verdict.check(text, lines) or ""
        if not reason:
            return text
    raise SummaryRefused(f"the summary was refused: {reason}", CURE)
