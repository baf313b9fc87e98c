"""Builders look at the language models."""

from __future__ import annotations

from collections import Counter

from keepsake.agent.runtime import runtime
from keepsake.contrib.evennia.commands.base import BuilderCommand, plain
from keepsake.contrib.evennia.commands.figures import labelled
from keepsake.contrib.evennia.minds import open_minds
from keepsake.models.queue import Priority
from keepsake.models.servers import READY, ServerStatus


class CmdLlmStatus(BuilderCommand):
    """See which language models answer, and how.

    Usage:
      @llm-status

    For each model server: who asks it for what, what server it is, the form of its
    prompts (dialogue, script or chat) and their size, whether it answers, how many
    calls wait (players before events before idle thoughts before compactions),
    how long answers take, how many tokens went in and out, and what share of the
    prompts the server found in its cache. Profiles are set in vault/config/llm.md.

    See also: |whelp @agent|n
    """

    key = "@llm-status"

    def run(self) -> None:
        """Show every server."""
        gateway = runtime().gateway
        if problem := gateway.profiles.problem:
            self.caller.msg(f"|rllm.md is not in use:|n {plain(str(problem))}")
        text = "\n\n".join(describe(status) for status in gateway.statuses())
        self.caller.msg(text or "No profile in llm.md uses a model.")
        self.caller.msg(_guarded())


def _guarded() -> str:
    """How many answers were not spoken as they were written, of all agents since the start."""
    counts = sum((mind.thinker.log.guarded for mind in open_minds()), Counter[str]())
    found = ", ".join(f"{counts[op]} {op}" for op in ("altered", "refused", "dropped", "replaced"))
    return f"Answers since the start, not spoken as they were written: {found}. See |w@why|n."


def describe(status: ServerStatus) -> str:
    """One server, a line a fact."""
    figures = status.figures
    colour = "|g" if status.health == READY else "|r"
    waiting = ", ".join(
        f"{status.waiting[priority]} {priority.name.lower()}"
        for priority in Priority
        if status.waiting.get(priority)
    )
    lines = [
        ("Profiles", plain(", ".join(status.models)) or "none asked yet"),
        ("Server", plain(status.kind)),
        ("Health", f"{colour}{plain(status.health)}|n"),
        ("Queue", f"{status.running} of {status.in_flight} in flight; waiting: {waiting or '0'}"),
        ("Calls", f"{figures.calls}, {figures.failures} failed"),
        ("Latency", f"{figures.average:.2f} s an answer on average"),
        (
            "Tokens",
            f"{figures.prompt_tokens} in, {figures.completion_tokens} out, "
            f"{figures.cached_share:.0%} of the prompts cached",
        ),
    ]
    if figures.last_error:
        lines.append(("Last error", plain(figures.last_error)))
    return f"|w{status.provider}|n at {plain(status.host)}\n{labelled(lines, 12)}"
