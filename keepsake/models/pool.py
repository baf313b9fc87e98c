"""All model servers that the profiles name: their places, what they take, and who may be asked."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from keepsake.errors import KeepsakeError, ModelError, ModelUnavailable
from keepsake.markdown_config import ConfigFile
from keepsake.models.catalogue import form_of, load_forms
from keepsake.models.clients.capabilities import Lessons
from keepsake.models.embedded.supervisor import Embedded, model_name
from keepsake.models.profiles import (
    AS_LEARNED,
    EXTRACTIVE,
    IN_FLIGHT,
    MOST_IN_FLIGHT,
    ModelProfile,
    Profiles,
)
from keepsake.models.queue import Lane, ModelQueue
from keepsake.models.recording import Recorder, Sink
from keepsake.models.servers import GuardedModel, ServerKey, build, server_key
from keepsake.models.status import UNASKED, ServerStatus

log = logging.getLogger("keepsake.llm")


LONGEST_REST = 300.0


@dataclass(slots=True)
class PooledServer:
    """One server, whatever profiles are asked there."""

    key: ServerKey
    lane: Lane
    recorder: Recorder
    health: str = UNASKED  # ``ready``, or what is wrong and what to do
    missed: bool = False  # whether a call found no answer there since it was last said to be ready
    rest: float = 1.0  # seconds until it is said to be ready again, if calls go on to fail
    said: float = float("-inf")  # when it was said last, in monotonic seconds


@dataclass(frozen=True, slots=True)
class Fleet:
    """The servers that may answer one profile; mostly it is one."""

    profile: ModelProfile  # what it was built from
    members: tuple[GuardedModel, ...]

    @property
    def first(self) -> GuardedModel:
        """The first that is well, else the first."""
        return next((each for each in self.members if each.is_well()), self.members[0])


class ServerPool:
    """Builds what the profiles name, and follows their changes; owner's thread only.

    Attributes:
        profiles, queue, embedded: As they were given.
        servers: Every server there was, by provider and address; replaced, never changed, so that
            any thread may read it.
        fleets: The servers of each profile that was asked for; likewise.
        news: Set when there is a server that was not asked yet what it takes.

    Args:
        profiles: The profiles.
        queue: Where calls wait for these servers.
        embedded: The child process.
        environ: The environment, for ``OLLAMA_HOST`` and the API key.
        drained: The file in which it stands who gets no new calls.
        sink: Called after each call, in a worker thread.
        wrapped: What is asked in place of a model that was built.
    """

    def __init__(
        self,
        profiles: Profiles,
        queue: ModelQueue,
        embedded: Embedded,
        environ: Mapping[str, str],
        drained: Path,
        *,
        sink: Sink | None = None,
        wrapped: Callable[[GuardedModel], GuardedModel] = lambda model: model,
    ) -> None:
        self.profiles, self.queue = profiles, queue
        self.embedded, self._environ = embedded, environ
        self._file, self._sink, self._wrapped = drained, sink, wrapped
        self._drained = drained_hosts(drained)
        self._fitted: object = None
        self._places: list[tuple[int, bool]] = []
        self._replaced: list[GuardedModel] = []
        forms = profiles.path.with_name("models.md")
        self._forms = ConfigFile[Mapping[str, str]](forms, load_forms, {}, rest=1.0)
        self._lessons: dict[tuple[ServerKey, str], Lessons] = {}
        self.servers: dict[ServerKey, PooledServer] = {}
        self.fleets: dict[str, Fleet] = {}
        self.news = threading.Event()

    def fleet(self, name: str) -> Fleet:
        """The servers of a profile, built anew where the profile has changed.

        Raises:
            ConfigError: There is no such profile.
            ModelUnavailable: The profile means no model.
        """
        profile = self.profiles.get(name)
        known = self.fleets.get(name)
        if known is None or known.profile != profile:
            if profile.provider == EXTRACTIVE:
                cure = "Give it another provider in llm.md"
                raise ModelUnavailable(f"The profile {name!r} uses no model", cure)
            known = self._built(profile, known.members if known else ())
            self.fleets = {**self.fleets, name: known}
        if self.profiles.all() is not self._fitted:
            self.fit()
        return known

    def used(self) -> list[ModelProfile]:
        """The profiles that mean a model."""
        return [profile for profile in self.profiles if profile.provider != EXTRACTIVE]

    def asked_at(self, key: ServerKey) -> list[GuardedModel]:
        """The models behind one server; any thread."""
        everywhere = (each for fleet in self.fleets.values() for each in fleet.members)
        return [each for each in everywhere if self._key(each.profile) == key]

    def fit(self) -> None:
        """Give each server as many places as the profiles, or what it said of itself, want."""
        self._fitted = self.profiles.all()
        current = {member for profile in self.used() for member in profile.members}
        for key, server in self.servers.items():
            asking = [each for each in self.asked_at(key) if each.profile in current]
            server.lane.places = max(map(_places, asking), default=server.lane.places)
            server.lane.drained = key[1] in self._drained
        now = [(each.lane.places, each.lane.drained) for each in self.servers.values()]
        if now != self._places:  # the watcher asks now and then, by no simulation's clock
            self._places = now
            self.queue.look()

    def statuses(self) -> list[ServerStatus]:
        """Every server that a profile uses."""
        fleets = [self.fleet(profile.name) for profile in self.used()]
        used = {self._key(each.profile) for fleet in fleets for each in fleet.members}
        return [self._status(each) for key, each in self.servers.items() if key in used]

    def drain(self, written: str, *, drained: bool) -> str:
        """Give a server no new calls, or give it calls again; kept over a reload and a stop.

        Args:
            written: Its address, or a part that no other server's has.
            drained: Whether it is to get none.

        Returns:
            The address.

        Raises:
            KeepsakeError: It is not clear which server is meant, or it cannot be kept.
        """
        address = self._meant(written, drained)
        now = self._drained | {address} if drained else self._drained - {address}
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.write_text("".join(f"{each}\n" for each in sorted(now)), encoding="utf-8")
        except OSError as error:
            what = f"{self._file} cannot be written ({error.strerror})"
            raise KeepsakeError(
                what, "See that there is room, and that it may be written"
            ) from error
        self._drained = now
        self.fit()
        return address

    def outcome(self, lanes: Iterable[Lane], *, answered: bool) -> None:
        """A call was answered by one of these servers, or by none of them."""
        for server in self.servers.values():
            if server.lane in lanes:
                server.missed = not answered
                server.rest = 1.0 if answered else server.rest
        if not answered:
            self.news.set()

    def close(self, reason: ModelError) -> None:
        """Answer who waits for an answer with ``reason``, and let go of all connections."""
        for fleet in self.fleets.values():
            self._replaced += fleet.members
        for guarded in self._replaced:
            guarded.close(reason)

    def _built(self, profile: ModelProfile, before: Iterable[GuardedModel]) -> Fleet:
        """The servers of a profile; those whose settings are as they were stay what they are."""
        known = {each.profile: each for each in before}
        alone = len(profile.members) == 1
        members = tuple(
            known.pop(one) if one in known else self._model(one, alone=alone)
            for one in profile.members
        )
        # These are closed at the end: calls of theirs may be in flight.
        self._replaced += known.values()
        self._fitted = None
        self.news.set()
        return Fleet(profile, members)

    def _model(self, profile: ModelProfile, *, alone: bool) -> GuardedModel:
        key = self._key(profile)
        if key not in self.servers:
            made = PooledServer(key, self.queue.lane(), Recorder(sink=self._sink))
            self.servers = {**self.servers, key: made}
        server, name = self.servers[key], model_name(profile)
        built = build(
            profile,
            self.embedded,
            self._environ,
            server.recorder,
            server.lane,
            lessons=self._lessons.setdefault((key, name), Lessons()),
            family=lambda: form_of(self._forms.current, name),
            alone=alone,
        )
        return self._wrapped(built)

    def _key(self, profile: ModelProfile) -> ServerKey:
        return server_key(profile, self.embedded, self._environ)

    def _meant(self, written: str, drained: bool) -> str:
        hosts = {host for _, host in self.servers} if drained else self._drained
        found = [written] if written in hosts else sorted(h for h in hosts if written in h)
        if len(found) == 1:
            return found[0]
        there = ", ".join(found or sorted(hosts)) or "none"
        which = "Drained are" if not drained else "There are"
        what = "Several servers are called" if found else "No server is called"
        raise KeepsakeError(f"{what} {written!r}", f"Write its address. {which}: {there}")

    def _status(self, server: PooledServer) -> ServerStatus:
        asking = self.asked_at(server.key)
        provider, host = server.key
        return ServerStatus(
            provider=provider,
            host=host,
            models=tuple(f"{each.profile.name}: {model_name(each.profile)}" for each in asking),
            kind=_kind(asking),
            health=server.health,
            waiting=self.queue.waiting(server.lane),
            running=len(server.lane.running),
            in_flight=server.lane.places,
            figures=server.recorder.figures(),
            drained=server.lane.drained,
            agents=self.queue.homes.agents(server.lane),
            moved=server.lane.moved,
            notes=tuple(dict.fromkeys(each.lessons.note for each in asking if each.lessons.note)),
        )


def drained_hosts(file: Path) -> frozenset[str]:
    """The addresses of the servers that get no new calls, by command."""
    try:
        return frozenset(file.read_text(encoding="utf-8").splitlines())
    except FileNotFoundError:
        return frozenset()
    except (OSError, UnicodeDecodeError) as error:
        log.warning("[Model] %s cannot be read (%s): no server is drained", file, error)
        return frozenset()


def _places(model: GuardedModel) -> int:
    """The calls that a profile would have in flight at its server."""
    if model.profile.in_flight != AS_LEARNED:
        return model.profile.in_flight
    return min(model.capabilities().slots or IN_FLIGHT, MOST_IN_FLIGHT)


def _kind(asking: list[GuardedModel]) -> str:
    """What a server is, the forms of its prompts and their sizes, for people."""
    if not asking or not asking[0].capabilities().known:
        return "not known yet"
    profiles = [each.resolved() for each in asking]
    forms = " and ".join(sorted({each.form for each in profiles}))
    tools = ", with tools" if any(each.takes_tools for each in profiles) else ""
    most = max(each.prompt_tokens for each in profiles)
    return f"{asking[0].capabilities().kind}, {forms}{tools}; prompts of {most:,} tokens at most"
