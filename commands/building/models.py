"""Builders look at the language models."""

from __future__ import annotations

from collections import Counter

from commands.building.base import BuilderCommand, plain
from commands.building.figures import labelled
from commands.wording import counted
from keepsake.agent.services import services
from keepsake.errors import KeepsakeError
from keepsake.models.queue import Priority
from keepsake.models.status import READY, ServerStatus
from typeclasses.minds import open_minds


class CmdLlmStatus(BuilderCommand):
    """See which language models answer, and how; take a server out of use.

    Usage:
      @llm-status
      @llm-status/drain <address>
      @llm-status/undrain <address>

    For each model server: who asks it for what, what server it is, the form of its
    prompts (dialogue, script or chat) and their size, whether it answers, how many
    calls wait (players before events before idle thoughts before compactions),
    how long answers take, how many tokens went in and out, what share of the
    prompts the server found in its cache, and how many agents are kept there for
    the sake of it. Profiles are set in vault/config/llm.md.

    A drained server gets no new calls; those under way end there. The agents'
    next thoughts go to the other servers of their profile. It stays so over a
    reload and a restart, until |w/undrain|n. A part of the address will do.

    Examples:
      @llm-status/drain 10.0.0.6
      @llm-status/undrain 10.0.0.6

    See also: |whelp @agent|n
    """

    key = "@llm-status"
    switch_options = ("drain", "undrain")

    def run(self) -> None:
        """Show every server, or drain one."""
        gateway = services().gateway
        if self.switches:
            return self.drain("drain" in self.switches)
        if problem := gateway.profiles.problem:
            self.caller.msg(f"|rllm.md is not in use:|n {plain(str(problem))}")
        statuses = gateway.statuses()
        text = "\n\n".join(describe(status) for status in statuses)
        self.caller.msg(text or "No profile in llm.md uses a model.")
        return self.caller.msg(_guarded())

    def drain(self, drained: bool) -> None:
        """Give a server no new calls, or give it calls again.

        Raises:
            KeepsakeError: It is not clear which server is meant.
        """
        if not (written := self.args.strip()):
            raise KeepsakeError("No server is named", "Write its address, as @llm-status shows it")
        gateway = services().gateway
        host = gateway.drain(written, drained=drained)
        there = [each for each in gateway.statuses() if each.host == host]
        running = sum(each.running for each in there)
        if not drained:
            self.caller.msg(f"{plain(host)} gets calls again.")
            return
        end = f"; {counted(running, 'call')} under way will end there" if running else ""
        kept = "It stays so over a reload and a restart, until @llm-status/undrain."
        self.caller.msg(f"{plain(host)} gets no new calls{end}. {kept}")


def _guarded() -> str:
    """How many answers were not spoken as they were written, of all agents since the start."""
    counts = sum((mind.thinker.tally.guarded for mind in open_minds()), Counter[str]())
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
        *[("Note", f"|y{plain(each)}|n") for each in status.notes],
        ("Health", f"{colour}{plain(status.health)}|n"),
        *([("Drained", "|yno new calls; @llm-status/undrain ends it|n")] if status.drained else []),
        ("Queue", f"{status.running} of {status.in_flight} in flight; waiting: {waiting or '0'}"),
        ("Calls", f"{figures.calls}, {figures.failures} failed"),
        ("Latency", f"median {figures.p50:.2f} s, 95th percentile {figures.p95:.2f} s"),
        (
            "Tokens",
            f"{figures.prompt_tokens} in, {figures.completion_tokens} out, "
            f"{figures.cached_share:.0%} of the prompts cached",
        ),
    ]
    if status.agents:
        lines.insert(-1, ("Agents", f"{status.agents} kept here"))
    if status.moved:
        lines.append(("Moved", f"{counted(status.moved, 'call')} went on at another server"))
    if figures.last_error:
        lines.append(("Last error", plain(figures.last_error)))
    return f"|w{status.provider}|n at {plain(status.host)}\n{labelled(lines, 12)}"
