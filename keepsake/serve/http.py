"""The service over HTTP: the verbs of a memory, with OpenAPI."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from http import HTTPMethod
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from sse_starlette import EventSourceResponse
from starlette.exceptions import HTTPException

from keepsake.errors import KeepsakeError
from keepsake.happening import Person
from keepsake.library.happenings import Who
from keepsake.library.memory import Memory
from keepsake.library.results import (
    Answer,
    Forgotten,
    KnownPerson,
    MemoryPrompt,
    RecalledMemory,
    Status,
    Summaries,
)
from keepsake.logs import Subsystem, get_logger
from keepsake.serve import shapes
from keepsake.serve.gatekeeper import BODY_BYTES, Gatekeeper
from keepsake.serve.problems import Denied, body_of, status_of
from keepsake.serve.shapes import AnswerShape, PlanShape, Problem, Remembered, SummaryChange, named
from keepsake.serve.tokens import Grant, Right

log = get_logger(Subsystem.SERVICE)

STREAM = "text/event-stream"
MCP = "mcp"
"""The part of the path below which MCP is: at its beginning for all agents of the token, after an
agent's name for that one."""
_AGENTS = "agents"
_PING_SECONDS = 15
"""Seconds after which a stream without lines sends a comment, so that no proxy closes it."""
_RESPONSES: dict[int | str, dict[str, Any]] = {
    code: {"model": Problem}
    for code in (400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504, 507)
}
_AGENT = Path(max_length=200, description="The name of the agent's folder.")

type Agent = Annotated[str, _AGENT]


class Verbs:
    """The endpoints of one service.

    Args:
        keeper: Checks who may ask for what.
        answers: Runs answers, each of which takes as long as its model.
    """

    def __init__(self, keeper: Gatekeeper, answers: ThreadPoolExecutor) -> None:
        self._keeper = keeper
        self._answers = answers

    def _memory(self, request: Request, agent: str, right: Right) -> Memory:
        grant: Grant = request.state.grant
        self._keeper.check(grant, agent, right)
        return self._keeper.house.memory(agent)

    # -- what the service has

    def agents(self, request: Request) -> list[shapes.AgentShape]:
        """List the agents of the token."""
        grant: Grant = request.state.grant
        rights = [each.value for each in grant.rights]
        names = filter(grant.knows, self._keeper.house.names())
        return [shapes.AgentShape(name=name, rights=rights) for name in names]

    # -- write

    def perceive(
        self, request: Request, agent: Agent, happened: shapes.HappenedShape
    ) -> Remembered:
        """Remember what happened."""
        only_for = happened.only_for
        number = self._memory(request, agent, Right.WRITE).perceive(
            happened.told(),
            place=happened.place,
            time=happened.time,
            only_for=None if only_for is None else shapes.all_named(only_for),
            happening=happened.happening,
            rests_on=happened.rests_on,
        )
        return Remembered(number=number)

    async def answer(
        self, request: Request, agent: Agent, question: shapes.QuestionShape
    ) -> Response:
        """Remember words to the agent, and its answer.

        With ``Accept: text/event-stream`` the answer is a stream: an event ``line`` for each line
        as soon as it is complete, then ``answer`` with all of it, or ``error``.
        """
        memory = await asyncio.to_thread(self._memory, request, agent, Right.WRITE)
        given_up = threading.Event()
        ask = partial(
            memory.answer,
            question.words,
            by=named(question.by),
            whisper=question.whisper,
            here=question.hearers,
            place=question.place,
            facts=question.facts,
            is_cancelled=given_up.is_set,
        )
        if STREAM in request.headers.get("accept", ""):
            stream = self._stream(agent, ask, given_up)
            return EventSourceResponse(stream, ping=_PING_SECONDS)
        with self._keeper.answering(agent):
            task = asyncio.get_running_loop().run_in_executor(self._answers, ask)
            try:
                found = await task
            except asyncio.CancelledError:
                given_up.set()
                raise
        return JSONResponse(_shown(found).model_dump(mode="json"))

    async def _stream(
        self, agent: str, ask: Callable[..., Answer], given_up: threading.Event
    ) -> AsyncIterator[dict[str, str]]:
        """Yield the events of an answer; a client that goes away gives the answer up."""
        lines: asyncio.Queue[str | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def told(line: str | None) -> None:
            loop.call_soon_threadsafe(lines.put_nowait, line)

        def run() -> Answer:
            try:
                return ask(on_line=told)
            finally:
                told(None)

        try:
            with self._keeper.answering(agent):
                task = loop.run_in_executor(self._answers, run)
                while (line := await lines.get()) is not None:
                    yield _event("line", {"text": line})
                yield _event("answer", _shown(await task).model_dump(mode="json"))
        except KeepsakeError as error:
            yield _event("error", {**body_of(error), "status": status_of(error)})
        finally:
            given_up.set()

    def compact(self, request: Request, agent: Agent) -> SummaryChange:
        """Summarise older memories now."""
        done = self._memory(request, agent, Right.WRITE).compact()
        return SummaryChange(number=done.number, detail=done.detail)

    def undo(self, request: Request, agent: Agent) -> SummaryChange:
        """Take the last compaction back."""
        done = self._memory(request, agent, Right.WRITE).undo()
        return SummaryChange(number=done.number, detail=done.detail)

    def plan(self, request: Request, agent: Agent, plan: shapes.PlanLine) -> PlanShape:
        """Have the agent mean to do something: ``tomorrow 12:00, Anneke: show her the ferry``."""
        return PlanShape.of(self._memory(request, agent, Right.WRITE).plan(plan.line))

    def end_plan(
        self,
        request: Request,
        agent: Agent,
        number: Annotated[int, Path(ge=1, le=10**9)],
        end: shapes.PlanEnd,
    ) -> PlanShape:
        """Mark a plan as done or dropped."""
        memory = self._memory(request, agent, Right.WRITE)
        return PlanShape.of(memory.end_plan(number, done=end.done, why=end.why))

    # -- read

    def prompt(
        self, request: Request, agent: Agent, question: shapes.PromptQuestion
    ) -> MemoryPrompt:
        """Return the messages that a model would get. Nothing is remembered."""
        return self._memory(request, agent, Right.READ).prompt(
            question.words,
            by=named(question.by),
            whisper=question.whisper,
            here=question.hearers,
            place=question.place,
            facts=question.facts,
            budget=question.budget,
        )

    def recall(
        self,
        request: Request,
        agent: Agent,
        q: Annotated[str, Query(min_length=1, max_length=2000, description="The question.")],
        *,
        limit: Annotated[int, Query(ge=1, le=200)] = 10,
        audience: Annotated[
            list[str] | None,
            Query(max_length=shapes.MOST_PEOPLE, description="Names of those who hear it."),
        ] = None,
        audience_id: Annotated[
            list[shapes.Id] | None,
            Query(max_length=shapes.MOST_PEOPLE, description="Ids of those who hear it."),
        ] = None,
    ) -> list[RecalledMemory]:
        """Return the memories that answer a question or share its words, best first."""
        hearers: list[Who] | None = None
        if audience is not None or audience_id is not None:
            hearers = [*(audience or ()), *(Person(each, each) for each in audience_id or ())]
        return self._memory(request, agent, Right.READ).recall(q, limit, audience=hearers)

    def plans(self, request: Request, agent: Agent, ended: bool = False) -> list[PlanShape]:
        """Return what the agent means to do."""
        found = self._memory(request, agent, Right.READ).plans(ended=ended)
        return [PlanShape.of(each) for each in found]

    def people(self, request: Request, agent: Agent) -> list[KnownPerson]:
        """Return the people whom the agent knows."""
        return self._memory(request, agent, Right.READ).people()

    def summaries(self, request: Request, agent: Agent) -> Summaries:
        """Return both summaries."""
        return self._memory(request, agent, Right.READ).summaries()

    def status(self, request: Request, agent: Agent) -> Status:
        """Return figures of the memory."""
        return self._memory(request, agent, Right.READ).status()

    # -- forget

    def forget(self, request: Request, agent: Agent, asked: shapes.ForgetRequest) -> Forgotten:
        """Delete what a person said and did, with all that was made from it."""
        return self._memory(request, agent, Right.FORGET).forget(named(asked.person))


def make_app(keeper: Gatekeeper, answers: ThreadPoolExecutor, lifespan: Any = None) -> FastAPI:
    """Return the service as an ASGI application."""
    app = FastAPI(
        title="Keepsake",
        summary="A memory for language-model agents, for programs in any language.",
        version=version("evennia-keepsake"),
        # Their pages load scripts from other servers; openapi.json is enough for any client.
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses=_RESPONSES,
    )
    app.get("/health", summary="Whether the service answers")(_health)
    app.include_router(_routes(Verbs(keeper, answers)))
    app.exception_handler(KeepsakeError)(_refused)
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(HTTPException)(_http_error)
    app.middleware("http")(partial(_watch, keeper))
    return app


def _routes(verbs: Verbs) -> APIRouter:
    """Return the paths of all verbs."""
    # The token is checked before a request is read; this shows it in OpenAPI.
    router = APIRouter(prefix=f"/{_AGENTS}", dependencies=[Depends(HTTPBearer(auto_error=False))])
    router.get("")(verbs.agents)
    reading: list[Callable[..., Any]] = [
        verbs.recall,
        verbs.plans,
        verbs.people,
        verbs.summaries,
        verbs.status,
    ]
    for verb in reading:
        router.get(f"/{{agent}}/{verb.__name__}")(verb)
    posting: list[Callable[..., Any]] = [
        verbs.prompt,
        verbs.perceive,
        verbs.compact,
        verbs.undo,
        verbs.forget,
    ]
    for verb in posting:
        router.post(f"/{{agent}}/{verb.__name__}")(verb)
    streamed: dict[int | str, dict[str, Any]] = {
        200: {"model": AnswerShape, "content": {STREAM: {}}}
    }
    router.post("/{agent}/answer", responses=streamed, response_model=None)(verbs.answer)
    router.post("/{agent}/plans")(verbs.plan)
    router.post("/{agent}/plans/{number}/end")(verbs.end_plan)
    return router


def _health() -> dict[str, str]:
    return {"status": "ok"}


async def _watch(
    keeper: Gatekeeper, request: Request, go_on: Callable[[Request], Awaitable[Response]]
) -> Response:
    """Check the token and the size of a request before it is read, and write the audit."""
    path: str = request.scope["path"]  # decoded, and the one that chooses what is called
    _, kind, *rest = [*path.split("/"), "", ""]
    if kind not in (_AGENTS, MCP):
        return await go_on(request)
    agent, *verb = rest if kind == _AGENTS else ("", MCP)
    began = time.monotonic()
    request.state.grant = None
    request.state.problem = ""
    try:
        grant = await asyncio.to_thread(keeper.grant, request.headers.get("authorization", ""))
        request.state.grant = grant
        length = request.headers.get("content-length", "")
        sized = (
            request.method in (HTTPMethod.GET, HTTPMethod.HEAD, HTTPMethod.DELETE)
            or length.isdecimal()
        )
        if not sized or int(length or 0) > BODY_BYTES:
            cure = f"Send at most {BODY_BYTES:,} bytes, with their Content-Length"
            raise Denied(413, "The body is too large, or its size is not said", cure)
        if kind == MCP:
            keeper.check_right(grant, Right.READ)
        elif verb[:1] == [MCP]:
            await asyncio.to_thread(keeper.check, grant, agent, Right.READ)
        response = await go_on(request)
    except KeepsakeError as error:
        response = await _refused(request, error)
    keeper.audit(
        agent[:100],
        f"{request.method} {'/'.join(filter(None, verb))[:100]}".strip(),
        request.state.grant,
        began=began,
        status=response.status_code,
        problem=request.state.problem,
    )
    return response


async def _refused(request: Request, error: Exception) -> Response:
    """Return a known error, with its cure."""
    assert isinstance(error, KeepsakeError)
    request.state.problem = error.what
    headers = {"WWW-Authenticate": "Bearer"} if status_of(error) == 401 else {}
    if isinstance(error, Denied) and error.after:
        headers["Retry-After"] = str(error.after)
    return JSONResponse(body_of(error), status_of(error), headers)


async def _invalid(request: Request, error: Exception) -> Response:
    """Return why a request does not fit, without its values: they may be no valid text."""
    assert isinstance(error, RequestValidationError)
    found = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:5]]
    told = "; ".join(found).encode("utf-8", "replace").decode()
    request.state.problem = told
    refused = KeepsakeError(f"The request does not fit: {told}", "See /openapi.json")
    return JSONResponse(body_of(refused), 422)


async def _http_error(_: Request, error: Exception) -> Response:
    """Return an error of the framework, such as an unknown path, in the same shape."""
    assert isinstance(error, HTTPException)
    known = KeepsakeError(str(error.detail), "See /openapi.json for the paths and methods")
    return JSONResponse(body_of(known), error.status_code, dict(error.headers or {}))


def _event(kind: str, data: object) -> dict[str, str]:
    return {"event": kind, "data": json.dumps(data, ensure_ascii=False)}


def _shown(answer: Answer) -> AnswerShape:
    found = asdict(answer) | {"plans": [PlanShape.of(each) for each in answer.plans]}
    return AnswerShape(**{name: found[name] for name in AnswerShape.model_fields})
