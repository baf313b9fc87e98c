"""Reflection: what an agent makes of its journal, once enough has gathered in it.

A model writes a few insights, each with the numbers of the memories that it rests on; those must
stand in the entries that it was shown. How far the last reflection came is kept beside the journal
(``reflection.json``). Without a model an agent does not reflect.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from keepsake.books import files as vault_files
from keepsake.books.entries import EntryOrigin, Importance, JournalEntry, Judge
from keepsake.books.entries import line as entry_line
from keepsake.books.journal import Journal
from keepsake.books.people_shown import May
from keepsake.errors import NoteRefused
from keepsake.sleep.asking import NightAsk
from keepsake.sleep.config import SleepConfig
from keepsake.sleep.history import insights
from keepsake.sleep.steps import Figures
from keepsake.tasks.prompt_file import Prompts
from keepsake.tasks.reflect import Insight, ReflectTask

NAME = "reflection.json"
_LEAST, _MOST, _USUAL = 4, 8, 5
"""How much an insight matters, at least, at most, and where its entries do not say."""
_ENTRIES = 60
"""The newest entries that a reflection is made of."""
_KNOWN = 20
"""The newest insights that it is told not to repeat."""


def reflect(  # noqa: PLR0917 - each is another thing, and none can be left out
    journal: Journal,
    ask: NightAsk,
    config: SleepConfig,
    prompts: Prompts,
    own_name: str,
    now: datetime,
    may: May,
) -> Figures:
    """Reflect if enough importance has gathered since the last time; blocks.

    ``may``: Whether anybody may hear what rests on the memories of those numbers.

    Raises:
        NightOver: The agent has woken, or the calls are spent; it reflects in its next sleep.
        ModelError: There was no answer; the same.
        NoteRefused: A file cannot be read or written.
    """
    ask.check()
    path = journal.folder / NAME
    entries = [each for each in _lived(journal.entries()) if may(each.memories)]
    through = _order(progress(path))
    fresh = [each for each in entries if _order(each.id) > through]
    gathered = sum(each.importance.score for each in fresh)
    if gathered < config.reflect_after:
        return {"gathered": gathered, "needed": config.reflect_after}
    if not ask.available:
        return {"gathered": gathered, "insights": 0}
    shown = entries[-_ENTRIES:]
    lines = tuple(entry_line(each, now) for each in shown)
    numbers = frozenset(number for each in shown for number in each.memories)
    known = tuple(each.text for each in insights(journal.entries()))[-_KNOWN:]
    task = ReflectTask(prompts, own_name, lines, known, numbers, config.insights)
    found = ask.do(task)
    kept = sum(_keep(journal, each, shown, now) for each in found)
    newest = max(fresh, key=lambda each: _order(each.id)).id
    text = json.dumps({"through": newest, "gathered": gathered}) + "\n"
    vault_files.change(path, lambda _: text)
    return {"gathered": gathered, "insights": kept}


def progress(path: Path) -> str:
    """The id of the newest entry that was reflected on; empty for none.

    Raises:
        NoteRefused: The file cannot be read; it is left as it is.
    """
    try:
        text = vault_files.read(path)
        return "" if text is None else str(json.loads(text)["through"])
    except (OSError, UnicodeDecodeError) as error:
        raise vault_files.unusable(path, error) from error
    except (KeyError, ValueError, TypeError) as error:
        raise NoteRefused(
            f"{path} is not what a reflection leaves behind ({error})",
            "Mend it, or remove it to have the agent reflect on everything anew",
        ) from error


def _keep(journal: Journal, insight: Insight, shown: Sequence[JournalEntry], now: datetime) -> bool:
    """Bring an insight into the journal, unless the same stands there; whether it is new."""
    if any(each.text == insight.text for each in insights(journal.entries())):
        return False
    cited = [each for each in shown if set(insight.memories) & set(each.memories)]
    score = max((each.importance.score for each in cited), default=_USUAL)
    journal.write(
        insight.text,
        importance=Importance(min(max(score, _LEAST), _MOST), Judge.MODEL, ("an insight",)),
        origin=EntryOrigin.INFERRED,
        memories=insight.memories,
        who=list(dict.fromkeys(key for each in cited for key in each.who)),
        now=now,
        by="night",
    )
    return True


def _lived(entries: Sequence[JournalEntry]) -> list[JournalEntry]:
    """Entries that rest on what happened: what was only concluded is no ground for more."""
    return [entry for entry in entries if entry.origin is not EntryOrigin.INFERRED]


def _order(id: str) -> tuple[int, int]:
    """``20261121-3`` as something to compare by; (0, 0) for what is no id."""
    day, _, number = id.partition("-")
    return (int(day), int(number)) if day.isdecimal() and number.isdecimal() else (0, 0)
