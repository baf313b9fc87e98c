"""The pages behind the panel "What do you want to know?": its answers, or the ways to them.

Every form of the panel is a GET to an address below ``/agents/ask/``, so it works without
JavaScript, and an answer can be linked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote, urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path

from keepsake.agent.runtime import runtime
from keepsake.archive.records import Memory
from keepsake.errors import KeepsakeError
from keepsake.web import world
from keepsake.web.access import NotFound, page
from keepsake.web.asked.answering import answer
from keepsake.web.asked.of_all import answer_of_all
from keepsake.web.asked.offers import readings
from keepsake.web.asked.shapes import AnswerLine, OfferView
from keepsake.web.people import known
from keepsake.web.questions.clock import as_shown, world_clock
from keepsake.web.questions.grounded import Grounds
from keepsake.web.questions.panel import panel
from keepsake.web.questions.said import MOST_LINES, Because, Said, SaidLine, said, with_causes

LONGEST = 1000
"""The most characters of a question that are read."""
MOST_ANSWERED = 4
"""The most questions of a page: the first one is answered at once."""


def _asked_agent(request: HttpRequest) -> tuple[int, str, Path]:
    """Return number, name and folder of the agent that a form names.

    Raises:
        NotFound: There is no such agent.
    """
    given = request.GET.get("agent", "")
    for number, name, folder in world.folders():
        if str(number) == given:
            return number, name, folder
    raise NotFound(f"There is no agent {given[:20]!r}", "Choose one at /agents/")


def _words(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "").strip()[:LONGEST]


def _refused(request: HttpRequest, error: KeepsakeError) -> HttpResponse:
    """Return the page of the panel with what is wrong."""
    status = getattr(error, "status", 503)
    shown = {"trouble": str(error), "questions": panel(), **world_clock()}
    return render(request, "keepsake/said.html", shown, status=status)


@dataclass(frozen=True, slots=True)
class _Answered:
    """A question that was meant, with its short answer, or why there is none."""

    offer: OfferView
    lines: Sequence[AnswerLine] = ()
    trouble: str = ""


@page
def what_is_asked(request: HttpRequest) -> HttpResponse:
    """Lead to the answer, if typed words can mean one question only; else show all of these.

    The likeliest is answered at once.
    """
    question = _words(request, "q")
    here = request.GET.get("agent", "")
    try:
        offered, certain = readings(question, int(here) if here.isdecimal() else None)
    except KeepsakeError as error:
        return _refused(request, error)
    if certain:
        return HttpResponseRedirect(offered[0].address)
    shown = {
        "q": question,
        "answered": [*map(_answered, offered[:1])],
        # A script fills in their answers.
        "others": offered[1:MOST_ANSWERED],
        "questions": None if offered else panel(),
        **world_clock(),
    }
    return render(request, "keepsake/ask.html", shown)


def _answered(offer: OfferView) -> _Answered:
    try:
        if offer.id is None:
            found = answer_of_all(offer.asked, offer.about)
        else:
            found = answer(offer.id, offer.asked, offer.about)
        return _Answered(offer, found.lines)
    except KeepsakeError as error:
        return _Answered(offer, trouble=str(error))


@page
def what_it_said(request: HttpRequest) -> HttpResponse:
    """Show what an agent said, newest first: each line leads to why."""
    question = _words(request, "words")
    deeds = bool(request.GET.get("deeds"))
    try:
        number, name, folder = _asked_agent(request)
        found = _explained(said(folder, name, question, deeds=deeds), number, name)
    except KeepsakeError as error:
        return _refused(request, error)
    shown = {
        "agent": number,
        "name": name,
        "question": question,
        "deeds": deeds,
        "said": _by_the_clock(found),
        "most": MOST_LINES,
        "questions": panel(),
        **world_clock(),
    }
    return render(request, "keepsake/said.html", shown)


def _by_the_clock(found: Said) -> Said:
    """Return lines with what the world's clock showed then, for a template."""

    def shown(lines: Sequence[SaidLine]) -> Sequence[SaidLine]:
        return [
            replace(each, time=as_shown(each.time), because=told(each.because)) for each in lines
        ]

    def told(because: Because | None) -> Because | None:
        if because is None:
            return None
        cause = because.cause and _at(because.cause)
        return replace(
            because,
            cause=cause,
            promises=[*map(_at, because.promises)],
            quoted=[*map(_at, because.quoted)],
            recalled=[*map(_at, because.recalled)],
            grounds=_grounds_at(because.grounds),
        )

    return replace(found, to_them=shown(found.to_them), others=shown(found.others))


def _grounds_at(own: Grounds) -> Grounds:
    lines = [replace(each, memory=each.memory and _at(each.memory)) for each in own.lines]
    found = own.elsewhere
    motive = own.motive
    return replace(
        own,
        lines=lines,
        goes_on=[replace(each, memory=_at(each.memory)) for each in own.goes_on],
        elsewhere=found and replace(found, memory=_at(found.memory)),
        motive=motive and replace(motive, memory=motive.memory and _at(motive.memory)),
    )


def _at(memory: Memory) -> Memory:
    return replace(memory, time=as_shown(memory.time))


def _explained(found: Said, number: int, name: str) -> Said:
    """Return lines with what led to them, if the memory of the agent is open."""
    try:
        archive = world.mind_of_agent(number).memory.memory.archive
        places = runtime().places
    except KeepsakeError:  # its own page says it
        return found
    return with_causes(found, archive, name, number, places=places, folders=world.folders())


@page
def what_it_knows(request: HttpRequest) -> HttpResponse:
    """Lead to what an agent knows of a person; of a thing, to a search of its memory."""
    of = _words(request, "of")
    try:
        number, _, _ = _asked_agent(request)
        key = _person_known(number, of)
    except KeepsakeError as error:
        return _refused(request, error)
    if key:
        return _to("person", {"key": key, "by": number})
    return _to("search/", {"agent": number, "q": of, "of": 1})


def _person_known(number: int, name: str) -> str:
    """Return the identity of the person of that name whom an agent knows; empty for nobody."""
    if not name:
        return ""
    try:
        found = known.person(world.known_agents(), name=name)
    except NotFound:
        return ""
    return found.person.key if number in {each.id for each in found.agents} else ""


@page
def what_it_lost(request: HttpRequest) -> HttpResponse:
    """Lead to the last compaction of an agent, opened."""
    return _to_section(request, "compactions/last")


@page
def what_it_does_next(request: HttpRequest) -> HttpResponse:
    """Lead to the plans of an agent, and its usual day."""
    return _to_section(request, "plans")


@page
def what_it_remembered(request: HttpRequest) -> HttpResponse:
    """Lead to the memory of an agent as it was at a time, as a person says it: ``19:34``."""
    said = _words(request, "at") or _words(request, "evening")
    return _to_section(request, f"memory/@{quote(said)}" if said else "memory")


def _to_section(request: HttpRequest, section: str) -> HttpResponse:
    try:
        number, _, _ = _asked_agent(request)
    except KeepsakeError as error:
        return _refused(request, error)
    return HttpResponseRedirect(f"/agents/{number}/#{section}")


def _to(address: str, query: dict[str, object]) -> HttpResponse:
    return HttpResponseRedirect(f"/agents/{address}?{urlencode(query)}")


urlpatterns = [
    path("", what_is_asked, name="ask"),
    path("said", what_it_said, name="ask-said"),
    path("of", what_it_knows, name="ask-of"),
    path("lost", what_it_lost, name="ask-lost"),
    path("next", what_it_does_next, name="ask-next"),
    path("then", what_it_remembered, name="ask-then"),
]
