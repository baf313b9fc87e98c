"""What an agent makes of people while it sleeps: a model writes a paragraph for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.people import PeopleBook
from keepsake.books.people_shown import May, hearable
from keepsake.books.person_page import PageLine, PersonPage
from keepsake.sleep.asking import NightAsk
from keepsake.sleep.steps import Figures
from keepsake.tasks.night import memory_line
from keepsake.tasks.people import PeopleTask
from keepsake.tasks.prompt_file import Prompts

LEFT = "left"
"""The figure that says of how many people nothing was asked, as the calls were spent."""
LEAST_LINES = 3
"""New lines that there have to be for a model to be asked."""

NEWEST = 2000
"""The most memories that are gone through for one person."""

type Read = Callable[[int, int], Sequence[Memory]]
"""The memories from one number to another, as anybody may know of them."""


def write_portraits(  # noqa: PLR0917 - each is another thing, and none can be left out
    book: PeopleBook, ask: NightAsk, prompts: Prompts, own_name: str, may: May, read: Read
) -> Figures:
    """Have a model write anew what the agent makes of everybody of whom enough is new; blocks.

    The model is shown the paragraph as it is, and both sides of what was said and done since.

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
        lines = new if public.portrait else public.lines
        told = _exchange(public, lines, may, read)
        _study(book, public, ask, PeopleTask(prompts, own_name, public.name, public.portrait, told))
    return {"asked": asked, **({LEFT: left} if left else {})}


def _exchange(page: PersonPage, lines: Sequence[PageLine], may: May, read: Read) -> tuple[str, ...]:
    """What the person said and did in these lines, with the agent's own words to them."""
    first, last = min(line.numbers[0] for line in lines), _last(lines)
    first = max(first - 1, last - NEWEST)
    between = [each for each in read(first, last + 1) if _is_between(each, page)]
    shown = tuple(memory_line(each) for each in between if may((each.number,)))
    return shown or tuple(map(_told, lines))


def _is_between(memory: Memory, page: PersonPage) -> bool:
    if memory.kind is MemoryKind.ACT:
        return page.key == memory.to_id if memory.to_id else page.name == memory.to
    return memory.source_id == page.key


def _study(book: PeopleBook, page: PersonPage, ask: NightAsk, task: PeopleTask) -> None:
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
