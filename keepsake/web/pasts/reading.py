"""A model reads which lines mean typed words, of those that have them or are near: one button."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated

from django.http import HttpRequest
from ninja import Router
from pydantic import StringConstraints

from keepsake.agent.runtime import PROFILE, Runtime, runtime
from keepsake.errors import KeepsakeError
from keepsake.models.tickets import Priority
from keepsake.tasks.questions.meaning import Meaning
from keepsake.tasks.task import FALLBACK, run
from keepsake.tracing.following import follow_words
from keepsake.tracing.typed.choice import LineChoice
from keepsake.tracing.typed.gathering import Line, id_of
from keepsake.tracing.wording import Wording
from keepsake.web import world
from keepsake.web.access import BadRequest
from keepsake.web.actions import RequestBody, audit, builder_of
from keepsake.web.fact_shapes import LineOfAgent, MeantView
from keepsake.web.pasts.archives import Folders, archives_of
from keepsake.web.pasts.near import near_to
from keepsake.web.pasts.strands import MOST_SHOWN, choice_of, people_of, said_in
from keepsake.web.people.agents import KnownAgent
from keepsake.web.searching import Searched
from keepsake.web.shapes import answers

_LINES = 3
"""The most lines of what belongs together that the model reads: what was asked, and the answer."""

router = Router()


class TypedWords(RequestBody):
    """The words that were typed."""

    q: Annotated[str, StringConstraints(min_length=1, max_length=1000)]
    also: Annotated[str, StringConstraints(max_length=2000)] = ""
    """Lines that were chosen already, as ``GET fact`` has them."""


def has_reader(services: Runtime) -> bool:
    """Return whether there is a model that may be asked."""
    try:
        return services.agent_profile is not None
    except KeepsakeError:
        return False


@router.post("/fact/meant", response=answers(MeantView))
def meant(request: HttpRequest, body: TypedWords) -> MeantView:
    """Ask the agents' model which of the lines with words, or near in meaning, mean them.

    It is one call, or two if the first answer cannot be used; nothing of it is kept. Waits for the
    model, which may take minutes.
    """
    who = builder_of(request)
    agents = world.known_agents()
    chosen = choice_of(body.also, "").meant
    searched = world.searched()
    said = which_mean(body.q, runtime(), world.folders(), agents, searched, chosen=chosen)
    world.on_reactor(audit)(request, who, f"ask {said.model} which lines mean {body.q!r}")
    return said


def which_mean(
    words: str,
    services: Runtime,
    folders: Folders,
    agents: Sequence[KnownAgent],
    searched: Sequence[Searched] = (),
    *,
    chosen: Collection[Line] = (),
) -> MeantView:
    """Ask the agents' model which of the lines with words, or near to them, mean them; blocks.

    ``chosen``: Lines that mean the words. If there are any, the lines near to them are read.

    Raises:
        BadRequest: There are no such lines.
        KeepsakeError: There is no model, or no usable answer.
    """
    ask = services.asker(PROFILE, Priority.EVENT) if has_reader(services) else None
    if ask is None:
        cure = "Give the profile `agent` a model in llm.md"
        raise KeepsakeError("There is no model to ask", cure)
    archives = archives_of(folders)
    names = {key: each.name for key, each in archives.items()}
    try:
        wording = Wording.of(words)
    except KeepsakeError as error:
        raise BadRequest(error.what, error.cure) from error
    choice = LineChoice(meant=chosen)
    found = follow_words(archives, wording, people=people_of(agents), choice=choice)
    said = found.strands[:MOST_SHOWN]
    known = {id_of(key, one) for each in said for key, of in each.memories.items() for one in of}
    near = near_to(searched, archives, words, chosen)
    about = [*said, *(each for each in near if id_of(each.lead[0], each.lead[1]) not in known)]
    if not about:
        raise BadRequest("Nothing was said with these words", "Type others")
    lines = [said_in(each, names, _LINES) for each in about]
    like = [said_in(each, names, 1) for each in said if each.has_any(chosen)]
    asked = f"{words}, as in “{' / '.join(like)}”" if like else words
    task = Meaning(services.prompts["meaning"].current, asked, lines)
    result = run(task, ask, fall_back=False)
    if result.by == FALLBACK:
        what = "The model did not answer with numbers of lines; small models cannot"
        raise KeepsakeError(what, "Leave lines out by hand")
    read = [
        LineOfAgent(id=int(each.lead[0]), n=each.lead[1].number) for each in about[: task.taken]
    ]
    return MeantView(
        meant=tuple(each for at, each in enumerate(read) if at in result.value),
        other=tuple(each for at, each in enumerate(read) if at not in result.value),
        model=result.by,
    )
