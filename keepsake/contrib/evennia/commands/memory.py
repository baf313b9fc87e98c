"""Builders see the status of an agent's memory, and of the language models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

from keepsake.agent.mind import Mind
from keepsake.agent.runtime import runtime
from keepsake.agent.surroundings.world_clock import WorldClock
from keepsake.archive.summaries import Summary, Tier
from keepsake.contrib.evennia.commands.base import (
    LINE,
    TIMEOUT_SECONDS,
    BuilderCommand,
    author_of,
    labelled,
    plain,
    tell,
    when,
)
from keepsake.contrib.evennia.minds import open_minds
from keepsake.contrib.evennia.wording import counted
from keepsake.events.values import GuardOp
from keepsake.memory.integrity import IntegrityReport
from keepsake.models.queue import READY, ModelServer


class CmdMemoryStatus(BuilderCommand):
    """See what an agent remembers, and whether all of it is there.

    Usage:
      @memory-status [<agent>]   tiers, next compaction, summaries, sizes

    The integrity report says whether the archive is whole, the tiers cover every
    memory once, and the summaries in the vault match the archive. "No room" means
    that the persona, the commands and the scene alone fill the prompt: nothing is
    compacted then, and the line says what to raise.

    Example:
      @memory-status mira

    See also: |whelp @agent|n, |whelp @compact-memories|n
    """

    key = "@memory-status"

    def run(self) -> None:
        """Show the status of the agent's memory."""
        agent = self.agent_named(self.args)
        mind = self.mind(agent)
        caller = self.caller
        memory = mind.memory
        width = min(self.client_width(), LINE)
        head = f"|w{agent.key}'s memory|n\n{labelled(_facts(mind), line=width)}"

        def done(report: IntegrityReport) -> None:
            # The check reads edits by hand, so the texts are shown after it.
            texts = "".join(_summary(summary) for summary in memory.context().summaries)
            tell(caller, f"{head}\n{_integrity(report, width)}\n{texts}".rstrip())

        runtime().in_thread(memory.memory.check, TIMEOUT_SECONDS).addCallbacks(done, self.failed)


def _facts(mind: Mind) -> Iterator[tuple[str, str]]:
    component = mind.memory
    no_room = mind.compactions.no_room
    memory = component.memory
    window = component.context().window
    tiers = memory.tiers
    tried = memory.compactor
    load = memory.load()
    numbers = f" (memories {window[0].number}-{window[-1].number})" if window else ""
    yield "Memories", f"{tiers.last_number}, {len(window)} verbatim in the window{numbers}"
    yield (
        "Prompt",
        f"{load.used:,} of {load.budget:,} tokens ({load.share:.0%}): summaries "
        f"{load.summaries:,}, window {load.window:,}, the rest "
        f"{f'{load.overhead:,}' if load.overhead else 'is known after its first act'}",
    )
    at = "under way" if mind.compactions.compacting else memory.next_compaction()
    yield "Next compaction", at
    yield "Last compaction", when(tiers.state.time, datetime.now(UTC))
    if promises := component.commitments.lines():
        yield "Promises", f"{len(promises)} in {plain(str(component.commitments.path))}"
    yield "On disk", f"{memory.archive.size() / 1000:.1f} kB in {plain(str(component.folder))}"
    indexes = runtime().indexes
    if indexes is not None and (index := indexes.status().get(component.folder.name)) is not None:
        late = f" ({index.waiting} documents by words alone so far)" if index.waiting else ""
        how = f"by words and meaning{late}" if index.by_meaning else "by words"
        yield "Recall", how + (f". |r{plain(index.problem)}|n" if index.problem else "")
    if tried.failures:
        then = WorldClock.of_world().shown(tried.retry_at) if tried.retry_at else None
        retry = f"; next try {then:%H:%M:%S}" if then else ""
        failed = f"{counted(tried.failures, 'time')}: {plain(tried.last_failure)}{retry}"
        yield "|rFailed|n", failed
    if problem := component.problem:
        waiting = counted(len(component.waiting), "memory")
        yield "|rNot written|n", f"{waiting} in RAM. {plain(str(problem))}"
    if no_room is not None:
        yield "|rNo room|n", plain(str(no_room))


def _integrity(report: IntegrityReport, width: int) -> str:
    """Return the integrity report: the problems, or that the archive is whole."""
    if not report.whole:
        found = f"|r{counted(len(report.problems), 'problem')}|n"
        listed = "".join(f"\n    - {plain(problem)}" for problem in report.problems)
        return labelled([("Integrity", found)]) + listed
    lines = counted(report.lines, "archive line")
    whole = f"|gwhole|n: {counted(report.memories, 'memory')} in {lines}, each in exactly one tier"
    return labelled([("Integrity", f"{whole}; the files match")], line=width)


def _summary(summary: Summary) -> str:
    title = "Long-term summary" if summary.tier is Tier.LONGTERM else "Short-term summary"
    return (
        f"\n|w{title}|n (memories {summary.first}-{summary.last}, {author_of(summary.model)}, "
        f"{len(summary.text)} chars)\n{plain(summary.text)}\n"
    )


class CmdLlmStatus(BuilderCommand):
    """See which language models answer, and how.

    Usage:
      @llm-status

    It shows the model that `provider: auto` in llm.md means, and whether it
    keeps secrets. It is asked some questions about that once. If it fails,
    nobody is ever told what a whisper asks to be passed on.

    For each model server it shows
      - the profiles of vault/config/llm.md that use it, and their models
      - what kind of server it is
      - the form of its prompts (chat, dialogue or script), and their size
      - whether it answers
      - how many calls wait: players come first, then events, idle thoughts,
        compactions
      - the share of the prompts that the server had in its cache

    See also: |whelp @agent|n
    """

    key = "@llm-status"

    def run(self) -> None:
        """Show every server, and how many answers were altered, refused or dropped."""
        gateway = runtime().gateway
        if problem := gateway.profiles.problem:
            tell(self.caller, f"|rllm.md is not in use:|n {plain(str(problem))}")
        tell(self.caller, f"The agents' model: {plain(gateway.profiles.agent_model_line)}")
        if keeps := runtime().secret_trial.line:
            tell(self.caller, f"It keeps secrets: {plain(keeps)}")
        if text := "\n\n".join(_server(each) for each in gateway.used_servers()):
            tell(self.caller, text)
        counts = sum((mind.thinker.log.guarded for mind in open_minds()), Counter[GuardOp]())
        found = (f"{counts[op]} {op}" for op in GuardOp)
        tell(self.caller, f"Changed answers since the start: {', '.join(found)}. See |w@why|n.")


def _server(server: ModelServer) -> str:
    """Return the facts about a server, one per line."""
    colour = "|g" if server.health == READY else "|r"
    waiting = ", ".join(
        f"{count} {priority.name.lower()}" for priority, count in server.waiting.items() if count
    )
    lines = [
        ("Profiles", plain(", ".join(server.profiles)) or "none used yet"),
        ("Server", plain(server.kind)),
        ("Health", f"{colour}{plain(server.health)}|n"),
        ("Queue", f"{server.live} of {server.places} in flight; waiting: {waiting or '0'}"),
        ("Calls", f"{server.calls}, {server.failures} failed"),
        ("Cached", _cached(server)),
    ]
    details = ("Context", server.shortage), ("Last error", server.last_error)
    lines += [(label, plain(text)) for label, text in details if text]
    return f"|w{server.provider}|n at {plain(server.host)}\n{labelled(lines, 12)}"


def _cached(server: ModelServer) -> str:
    """Return which share of the prompts' tokens was in the server's cache."""
    if server.cached is None:
        return "unknown: the server does not say" if server.calls else "nothing asked yet"
    last = "unknown" if server.last_cached is None else f"{server.last_cached:.0%}"
    return f"{server.cached:.0%} of the prompts' tokens; of the newest prompt {last}"
