"""What an agent's life cost, as its event log has it: plain figures."""

from __future__ import annotations

from collections.abc import Mapping

from game.lab.replays.event_history import Log

type Figures = Mapping[str, str | int | float]
"""Named alike in JSON and CSV; tokens are sums."""


def lived(log: Log, memories: int) -> Figures:
    """The life itself, as far as a log tells that has it from its first memory to its last."""
    prompts, made = log.prompts, log.compactions
    return {
        "memories": memories,
        "thoughts": len(prompts),
        "tokens_sent": sum(each.used for each in prompts),
        "tokens_spent": sum(each["prompt_tokens"] + each["completion_tokens"] for each in made),
        "compactions": len(log.made),
        "failures": sum(each["outcome"] == "failed" for each in made),
        "largest_prompt": round(max((p.used / max(p.budget, 1) for p in prompts), default=0.0), 4),
        "over_budget": sum(each.used > each.budget for each in prompts),
        "window": round(sum(each.window for each in prompts) / max(len(prompts), 1), 2),
        "put_back": sum(each["put_back"] for each in made),
    }


def a_thought(each: Figures, tokens: str) -> float:
    """The average of that figure over the thoughts."""
    return float(each[tokens]) / max(int(each["thoughts"]), 1)
