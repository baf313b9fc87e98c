"""What an agent makes of people while it sleeps: a model writes a paragraph for each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from keepsake.books.people.book import PeopleBook
from keepsake.books.people.page import PageLine, PersonPage
from keepsake.books.people.shown import May, hearable
from keepsake.sleep.asking import NightAsk
from keepsake.sleep.steps import Figures
from keepsake.tasks.people import PeopleTask
from keepsake.tasks.prompt_file import Prompts

LEFT = "left"
"""The figure that says of how many people nothing was asked, as the calls were spent."""
LEAST_LINES = 3
"""New lines that there have to be for a model to be asked."""


def write_portraits(
    book: PeopleBook, ask: NightAsk, prompts: Prompts, own_name: str, may: May
) -> Figures:
    """Have a model write anew what the agent makes of everybody of whom enough is new; blocks.

    ``may``: Whether anybody may hear what rests on the memories of those numbers; nothing else is
    shown to the model, so the paragraph may stand in every prompt.

    Raises:
        NightOver: The agent has woken.
        ModelError: The model does not answer.
        NoteRefused: A file cannot be written.
    """
    asked = left = 0
    for page in book.all():
        ask.check()
        public = hearable(page, may)
        new = [line for line in public.lines if line.numbers[-1] > page.studied]
        if len(new) < LEAST_LINES:
            continue
        if not ask.available:
            left += ask.has_model
            continue
        asked += 1
        _study(book, public, ask, prompts, own_name)
    return {"asked": asked, **({LEFT: left} if left else {})}


def _study(
    book: PeopleBook, page: PersonPage, ask: NightAsk, prompts: Prompts, own_name: str
) -> None:
    told = tuple(map(_told, page.lines))
    task = PeopleTask(prompts, own_name, page.name, page.portrait, told)
    portrait = ask.do(task)
    through = _last(page.lines)

    def edit(known: PersonPage) -> PersonPage:
        # What a person has written there meanwhile stays.
        text = portrait if known.portrait == page.portrait else known.portrait
        return replace(known, portrait=text, studied=max(known.studied, through))

    book.conclude(page.key, edit)


def _told(line: PageLine) -> str:
    when = line.time.astimezone()
    return f"- {when.day} {when:%B %Y}: {line.shown}"


def _last(lines: Iterable[PageLine]) -> int:
    return max((line.numbers[-1] for line in lines), default=0)
