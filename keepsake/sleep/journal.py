"""A journal at night: a model writes the day's entries."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from keepsake.archive.records import Memory
from keepsake.books.entries import EntryOrigin, Importance, JournalEntry, Judge
from keepsake.books.importance import is_event
from keepsake.books.journal import Journal
from keepsake.language.heard import heard
from keepsake.sleep.asking import NightAsk
from keepsake.sleep.steps import Figures
from keepsake.tasks.journal import DraftEntry, JournalTask
from keepsake.tasks.prompt_file import Prompts

LEAST_MEMORIES = 6
"""New memories that there have to be for a model to be asked."""


def write_day(  # noqa: PLR0917 - each is another thing, and none can be left out
    journal: Journal,
    memories: Sequence[Memory],
    ask: NightAsk,
    prompts: Prompts,
    own_name: str,
    now: datetime,
) -> Figures:
    """Have a model write the entries of these memories; blocks.

    Nothing is returned where none was asked. In prompts they take the place of entries about the
    same memories that rest on the figure alone.

    Raises:
        NightOver: The agent has woken, or the calls are spent; what was written stays.
        ModelError: The model does not answer.
        NoteRefused: A file cannot be read or written.
    """
    ask.check()
    shown = [memory for memory in memories if is_event(memory)]
    if len(shown) < LEAST_MEMORIES or not ask.available:
        return {}
    drafts = ask.do(JournalTask(prompts, own_name, shown))
    by_number = {memory.number: memory for memory in shown}
    # Broken off in an earlier try, it has written some of them.
    told = {n for each in journal.entries() if _by_model(each) for n in each.memories}
    new = [draft for draft in drafts if told.isdisjoint(draft.memories)]
    for draft in new:
        _keep(journal, draft, [by_number[n] for n in draft.memories], now)
    return {"written": len(new)}


def _by_model(entry: JournalEntry) -> bool:
    return entry.importance.judge is Judge.MODEL and entry.origin is not EntryOrigin.INFERRED


def _keep(journal: Journal, draft: DraftEntry, memories: Sequence[Memory], now: datetime) -> None:
    told = any(heard(memory) is not None for memory in memories)
    journal.write(
        draft.text,
        importance=Importance(draft.importance, Judge.MODEL),
        origin=EntryOrigin.TOLD if told else EntryOrigin.SEEN,
        memories=draft.memories,
        who=list(dict.fromkeys(m.source_id for m in memories if m.source_id)),
        now=now,
        by="night",
    )
