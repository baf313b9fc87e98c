"""Another memory than ours in a running world: handed what is lived, asked before each thought.

The archive stays the truth. Every call of such a memory is made in a worker thread, one at a time;
what breaks in it is told under its name, and the agent goes on with the window alone. Nothing that
was whispered is handed to it to be remembered: it learns that something was (:func:`outward`), and
no word. Only what is to be answered is put to its recall as it was said, which keeps no question.
"""

from __future__ import annotations

import shutil
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import frontmatter
import yaml

from keepsake.agent.agent_log import Complaints, log
from keepsake.agent.body import Life
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.recaller import SPARE, Recaller
from keepsake.agent.runtime import Runtime
from keepsake.agent.waiting import Alarm
from keepsake.archive.forgetting import PLUGGED
from keepsake.archive.log import Archive
from keepsake.archive.privacy import NOBODY, Audience, outward
from keepsake.archive.records import Memory
from keepsake.books.files import replace_file
from keepsake.books.notes import NoteBook
from keepsake.errors import KeepsakeError
from keepsake.memory import protocol
from keepsake.memory.protocol import MemorySystem, RecalledLine, Surroundings, dated, line_of
from keepsake.models.profiles import EXTRACTIVE, ModelProfile
from keepsake.ports import Generation, GenerationRequest, LanguageModel
from keepsake.recall.documents import Document, DocumentKind, Hit
from keepsake.recall.related import SearchResult
from keepsake.recall.sources import memory_document

PATIENCE = 5.0
"""Seconds that a thought waits for it; then it goes on with what was brought last."""
QUIET = 1800.0
"""Seconds without anything to remember after which it may rest."""
REOPEN_SECONDS = 60.0
CONTEXT_SHARE = 0.5
"""What it may show in every prompt, of a prompt's budget."""
_CLOSING = 1.0
"""Seconds for which a call that is under way is waited for at the end; then it closes itself."""
_AT_ONCE = 1000
"""Memories that are read from the archive at a time."""
PROFILE_FILE = "profile.md"
"""In an agent's folder."""
MEMORY = "memory"
_calling: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)
"""By folder: one that is made anew is opened once the one before it has let go of its files."""


class PluggedMemory(Recaller):
    """The other memory of one agent, and the search in it."""

    def __init__(
        self, life: Life, notes: NoteBook, memory: MemoryComponent, services: Runtime
    ) -> None:
        super().__init__(life, notes, memory, services)
        self._kind, self._context = life.memory, tuple[str, ...]()
        inside = "".join(c if c.isalnum() or c in "_.-" else "_" for c in life.memory)
        self._inside = life.folder / PLUGGED / inside
        self._trouble = Complaints(f"[Error] {life.name}: The memory {life.memory}")
        # Those that do not fit in are read from the archive before the next one is handed over.
        self._waiting: deque[Memory] = deque(maxlen=_AT_ONCE)
        self._calling = _calling[self._inside]
        self._system: MemorySystem | None = None
        self._try_again_at = float("-inf")
        self._quiet = Alarm(services.timer)
        self._closed = False

    @property
    def context(self) -> tuple[str, ...]:
        """What it had for every prompt when it was last asked; from any thread."""
        return self._context

    @property
    def patience(self) -> float:
        """Seconds that a thought waits for it."""
        return max(self._services.recalling.patience, PATIENCE)

    # -- on the reactor thread

    def begin(self) -> None:
        """Open it soon, and hand it what it does not know of."""
        self._services.workers.submit(self.rest)

    def saw(self, memory: Memory) -> None:
        """Something was remembered."""
        self._waiting.append(outward(memory))
        self._services.workers.submit(self._call, self._take_in, 0.0)
        self._quiet.set(QUIET, self._services.workers.submit, self.rest)

    def close(self) -> None:
        """Let go of it, at once or when the call that is under way has ended."""
        self._quiet.cancel()
        self._closed = True
        self._call(lambda _: None, _CLOSING)

    # -- in worker threads: blocks, and raises nothing

    def rest(self, *, asleep: bool = False) -> None:
        """Let it rest."""

        def rest(system: MemorySystem) -> None:
            self._take_in(system)
            system.rest(asleep=asleep)

        self._call(rest)

    def _found(
        self,
        text: str,
        before: int | None,
        *,
        scene: bool,
        seconds: float,
        audience: Audience = NOBODY,
        asker: str = "",
    ) -> SearchResult:
        """Ask it, and keep what it has for every prompt; nothing if it failed, or is busy."""
        del before, scene, seconds, audience  # whatever it brings is as anybody may hear it
        question = f"{asker}: {text}" if asker else text
        limit, found = self._services.recalling.memories + SPARE, list[SearchResult]()

        def ask(system: MemorySystem) -> None:
            self._take_in(system)
            budget = int(self._services.compaction.current.budget * CONTEXT_SHARE)
            shown = {dated(outward(each)) for each in self._memory.context().window}
            lines = (line for line in system.context(budget) if line not in shown)
            self._context = tuple(lines)
            found.append(self._hits(system.recall(question, limit)))

        if self._call(ask, PATIENCE) and not found:
            self._context = ()
        return found[0] if found else SearchResult()

    def _hits(self, recalled: Sequence[RecalledLine]) -> SearchResult:
        """What it recalled, without what the window shows anyway."""
        window = {each.number for each in self._memory.context().window}
        hits = (self._hit(place, line) for place, line in enumerate(recalled))
        return SearchResult(
            memories=tuple(
                hit for hit in hits if not (hit.document.first in window and _is_memory(hit))
            )
        )

    def _hit(self, place: int, line: RecalledLine) -> Hit:
        """A memory where the line tells one word for word, else the line itself."""
        last = line.numbers[-1] if line.numbers else 0
        memory = next(map(outward, self._archive.read(last, last)), None) if last else None
        if memory is not None and len(line.numbers) == 1 and line_of(memory) in line.text:
            return Hit(memory_document(memory, self._name), line.score)
        document = Document(
            key=f"line:{place}",
            kind=DocumentKind.MEMORY,
            text=_without_day(line.text),
            time=memory.time if memory else self._services.clock.now(),
            first=min(line.numbers, default=0),
            last=max(line.numbers, default=0),
        )
        return Hit(document, line.score)

    def _take_in(self, system: MemorySystem) -> None:
        """Hand over what waits, and before it what the memory has missed."""
        while self._waiting:
            memory = self._waiting.popleft()
            self._replay(system, memory.number - 1)
            if memory.number >= system.newest:
                system.perceive(memory)

    def _replay(self, system: MemorySystem, last: int) -> None:
        """Hand over what the archive has beyond its newest, up to that number."""
        while (first := system.newest + 1) <= last:
            for memory in self._archive.read(first, min(first + _AT_ONCE - 1, last)):
                system.perceive(outward(memory))
            if system.newest < first:  # it keeps nothing
                return

    # -- opening it, and what may break

    @property
    def _archive(self) -> Archive:
        return self._memory.memory.archive

    def _call(self, what: Callable[[MemorySystem], None], seconds: float = -1.0) -> bool:
        """Do something with it once nobody else does, if that is within so many seconds.

        Returns:
            Whether it was free; what came meanwhile is handed over before it is again.
        """
        if not self._calling.acquire(timeout=seconds):
            return False
        try:
            with self._told():
                self._open()
                if self._system is not None and not self._closed:
                    what(self._system)
                    self._take_in(self._system)
            with self._told():
                if self._system is not None and self._closed:
                    self._system.close()
                    self._system = None
        finally:
            self._calling.release()
        return True

    def _open(self) -> None:
        now = self._services.seconds()
        if self._system is None and not self._closed and now >= self._try_again_at:
            self._try_again_at = now + REOPEN_SECONDS
            self._system = self._opened()
            self._replay(self._system, self._archive.last_number)

    def _opened(self) -> MemorySystem:
        system = self._made()
        if system.newest > self._archive.last_number:  # that was put back to an earlier state
            system.close()
            shutil.rmtree(self._inside)
            system = self._made()
        return system

    def _made(self) -> MemorySystem:
        self._inside.mkdir(parents=True, exist_ok=True)
        services = self._services
        given = Surroundings(
            agent=self._name,
            folder=self._inside,
            clock=services.clock,
            embedder=services.embedder,
            model=_model(services),
            tokens=services.tokens,
            budget=services.compaction.current.budget,
        )
        return protocol.opened(self._kind, given)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Whatever breaks in it is told, once until something else does."""
        try:
            yield
        except KeepsakeError as error:
            self._trouble(str(error))
        except Exception as error:  # somebody else's code
            self._trouble(f"broke off: {error!r}")


def _model(services: Runtime) -> LanguageModel | None:
    """What writes the summaries here; None where rules do."""
    name = services.compaction.current.profile
    if services.gateway.profiles.get(name).provider == EXTRACTIVE:
        return None
    return _ProfileModel(services, name)


def _without_day(text: str) -> str:
    """A line without the day that :func:`dated` puts before it: ``4 May 2026, ``."""
    day, sign, rest = text.partition(", ")
    number, *month = day.split(" ")
    is_day = number.isdecimal() and len(month) == 2 and month[0].istitle() and month[1].isdecimal()
    return rest if sign and is_day else text


def _is_memory(hit: Hit) -> bool:
    return hit.document.key.startswith(f"{DocumentKind.MEMORY}:")


class _ProfileModel:
    """The model of a profile, asked for what a memory wants of it."""

    def __init__(self, services: Runtime, profile: str) -> None:
        self._services, self._profile = services, profile

    def generate(self, request: GenerationRequest) -> Generation:
        """The profile's model, address and sampling; the length, stops and heat of the request."""
        return self._services.gateway.generate(self._profile, partial(_asked_so, request))


def _asked_so(request: GenerationRequest, profile: ModelProfile) -> GenerationRequest:
    of_the_profile = profile.request(
        request.prompt,
        max_tokens=request.max_tokens,
        stop=request.stop,
        json_schema=request.json_schema,
        messages=request.messages,
    )
    return replace(of_the_profile, temperature=request.temperature)


# -- which memory an agent is to have: ``memory: rag`` at the head of its ``profile.md``


def memory_named(path: Path) -> str:
    """The memory that a profile names; empty for ours, and where it cannot be read."""
    if not path.exists():  # as a rule: who the agent is stands in the world's database
        return ""
    try:
        named = str(frontmatter.loads(path.read_text(encoding="utf-8")).get(MEMORY) or "")
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        log(f"[Error] {path} cannot be read, so the agent has the usual memory: {error}")
        return ""
    return "" if named in protocol.OURS else named


def memories_told(name: str) -> str:
    """What it is called, and what there is, for a builder."""
    return f"{name or protocol.KEEPSAKE}. There are: {', '.join(protocol.names())}"


def name_memory(path: Path, name: str) -> None:
    """Have a profile name a memory, whatever else it says; an empty name for ours.

    Raises:
        KeepsakeError: There is no such memory.
        OSError, UnicodeDecodeError, yaml.YAMLError: The file cannot be read or written.
    """
    if name not in protocol.OURS:
        protocol.maker(name)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    post = frontmatter.loads(text)
    post.metadata.pop(MEMORY, None)
    if name not in protocol.OURS:
        post[MEMORY] = name
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, frontmatter.dumps(post) + "\n")
