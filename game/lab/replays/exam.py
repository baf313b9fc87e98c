"""What of a life an agent still sees at its end, and what it knows of what comes after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from game.lab.replays.lived import ArchivedLife
from game.lab.trials.evaluating import IN_CONTEXT, IN_REACH
from game.lab.trials.journal import Row
from game.lab.trials.probing import curve
from keepsake.language.details import details, vocabulary
from keepsake.summaries.verification import judge


@dataclass(frozen=True, slots=True)
class RetentionResult:
    """What a configuration has kept of a life."""

    asked: int  # probes: what visitors told after the life, each asked for three times
    in_prompt: int  # those that the prompt alone answers
    with_recall: int  # those that prompt and recall by words answer together
    # the same by delay: ``hour``, ``day``, ``week``, as shares from 0 to 1
    prompt_after: dict[str, float]
    recall_after: dict[str, float]
    details: int  # names, places and numbers of the whole life
    details_seen: int  # those of them that the prompt still shows
    rules: int  # rules, promises and questions that are still open at the end
    rules_kept: int  # those of them that the agent still sees, in whatever words


def retention(
    life: ArchivedLife,
    visible: Sequence[str],
    wanted: Sequence[str],
    probes: Sequence[Row],
) -> RetentionResult:
    """What stands in the prompt at the end of a life, and what its probes gave.

    Args:
        life: What was lived.
        visible: What the prompt shows at its end.
        wanted: Rules, promises and questions that are open then.
        probes: What was known of what came after.
    """
    found = details(memory.text for memory in life.steps)
    seen = vocabulary(visible)
    verdict = judge(summaries=(), sources=(), visible=visible, must_keep=wanted)
    alone, recalled = (list(curve(probes, column)) for column in (IN_CONTEXT, IN_REACH))
    return RetentionResult(
        asked=sum(point.n for point in alone),
        in_prompt=sum(point.known for point in alone),
        with_recall=sum(point.known for point in recalled),
        prompt_after={point.delay: point.known / point.n for point in alone},
        recall_after={point.delay: point.known / point.n for point in recalled},
        details=len(found),
        details_seen=sum(seen.issuperset(keys) for keys in found),
        rules=verdict.wanted,
        rules_kept=verdict.wanted - len(verdict.put_back),
    )
