"""``keepsake watch``: a web server of this machine alone that shows a record.

Django without Evennia: no database, no sessions, nobody to log in. Twisted serves it, as in the
game, with the live stream of what is added to the log.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponseBase
from twisted.internet import reactor
from twisted.internet.defer import succeed
from twisted.internet.error import CannotListenError
from twisted.web.pages import forbidden
from twisted.web.resource import Resource
from twisted.web.server import Site
from twisted.web.wsgi import WSGIResource

from game.web.api.lives import NoSuchAgent
from game.web.api.source import choose, source, use
from game.web.live.hub import KEPT, Hub, as_written
from game.web.live.resource import LiveResource
from game.web.recorded.world import RecordedWorld
from game.web.site.access import Reader
from game.web.site.headers import HEADERS
from game.web.site.static_files import StaticFiles
from keepsake.archive.records import Memory
from keepsake.errors import KeepsakeError
from keepsake.events.agent_names import Names
from keepsake.events.reader import EventFollower, last
from keepsake.events.types import MemoryChange
from keepsake.json_lines import Record
from keepsake.paths import REPOSITORY

HERE = "127.0.0.1"
WORLD = "X-Keepsake-World"
"""The header by which a page asks for another world than its own: its place, from 0."""
_PLACE = "keepsake.world"
_NAMES = (HERE.encode(), b"localhost")
_WEB = REPOSITORY / "game" / "web"
_POLL = 1.0
"""Seconds between two looks at the log."""
_reactor: Any = reactor  # Twisted makes it at import; no type says what it can do


def serve(
    worlds: Sequence[RecordedWorld], port: int, ready: Callable[[str, str], None] = lambda *_: None
) -> None:
    """Show them until the process is ended, each at a port of its own; ``port`` is the first one's.

    ``ready`` is told title and address of each once it answers.

    Raises:
        KeepsakeError: A port is taken.
    """
    use(*worlds)
    _configure()
    for place, world in enumerate(worlds):
        _listen(world, place, port + place if port else 0, ready)
    _reactor.run()


def _listen(world: RecordedWorld, place: int, port: int, ready: Callable[[str, str], None]) -> None:
    hub, ending = Hub(_reactor, window_of=lambda name: _window_of(world, name)), threading.Event()
    try:
        listening = _reactor.listenTCP(port, Site(_Root(world, place, hub)), interface=HERE)
    except CannotListenError as error:
        cure = "Choose another with --port, or leave it out for a free one"
        raise KeepsakeError(f"Port {port} is taken", cure) from error
    following = threading.Thread(target=_follow, args=(world, hub, ending), daemon=True)
    address = f"http://{HERE}:{listening.getHost().port}/agents/"
    _reactor.callWhenRunning(following.start)
    # Its log is added up before anybody looks: of a hundred agents that takes a second or two.
    _reactor.callWhenRunning(_reactor.callInThread, partial(world.overview, may_act=False))
    _reactor.callWhenRunning(ready, world.title, address)
    _reactor.addSystemEventTrigger("before", "shutdown", ending.set)
    _reactor.addSystemEventTrigger("before", "shutdown", hub.close)


def _configure() -> None:
    """Django's settings for pages that know no accounts."""
    templates = _WEB / "templates"
    settings.configure(
        SECRET_KEY=secrets.token_hex(),
        ALLOWED_HOSTS=[each.decode() for each in _NAMES],
        ROOT_URLCONF="game.web.recorded.urls",
        MIDDLEWARE=["game.web.site.headers.SiteHeaders", f"{__name__}.AsReader"],
        STATIC_URL="/static/",
        STATIC_ROOT=str(_WEB / "static"),
        USE_TZ=True,
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "DIRS": [templates, templates / "website"],
                "OPTIONS": {
                    "libraries": {"asset_urls": "game.web.site.asset_urls"},
                    "context_processors": [f"{__name__}.record"],
                },
            }
        ],
    )
    django.setup()


class AsReader:
    """Django's middleware: whoever reaches this server may look."""

    def __init__(self, answer_of: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._answer_of = answer_of

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, of the world that is asked for: a page may show two side by side."""
        wanted = str(request.headers.get(WORLD) or request.META[_PLACE])
        choose(int(wanted) if wanted.isdecimal() else 0)
        request.user = Reader()  # no account: there is no database
        return self._answer_of(request)


def record(_: HttpRequest) -> dict[str, str]:
    """What templates know of the record: its title, its present, the time zone of its days."""
    shown = source()
    zone = str(shown.zone or "")
    return {"record": shown.title, "now": shown.now().isoformat(), "zone": zone}


class _Root(Resource):
    """The pages; beside them their files and the live stream, as in the game."""

    def __init__(self, world: RecordedWorld, place: int, hub: Hub) -> None:
        super().__init__()
        pool = _reactor.getThreadPool()
        # Any: Twisted declares its interfaces to no type checker.
        django_app = get_wsgi_application()

        def pages(environ: dict[str, Any], start: Any) -> Any:
            return django_app({**environ, _PLACE: str(place)}, start)

        self._pages: Any = WSGIResource(_reactor, pool, pages)
        files: Any = StaticFiles(settings.STATIC_ROOT)
        live: Any = LiveResource(
            hub,
            lambda _: succeed(True),
            lambda number: _names_of(world, number),
            _reactor,
            headers=tuple(HEADERS.items()),
            missing=lambda number: _names_of(world, number) is None,
        )
        self.putChild(b"static", files)
        self.putChild(b"agents-live", live)

    def getChildWithDefault(self, path: bytes, request: Any) -> Any:  # noqa: N802 - the same
        """Only who asks for this machine: a page elsewhere may have its own name lead here."""
        if request.getRequestHostname() not in _NAMES:
            return forbidden()
        return super().getChildWithDefault(path, request)

    def getChild(self, path: bytes, request: Any) -> Any:  # noqa: N802 - Twisted's name
        """All else is Django's."""
        request.prepath.pop()
        request.postpath.insert(0, path)
        return self._pages


def _names_of(world: RecordedWorld, number: int) -> Names | None:
    try:
        return world.names(number)
    except NoSuchAgent:
        return None


def _window_of(world: RecordedWorld, name: str) -> Sequence[Memory]:
    """The newest memories of whoever is called so: as many as the stream may tell of."""
    for each in world.inhabitants():
        if each.name == name:
            archive = world.life(each.number).archive
            return archive.read(max(archive.last_number - KEPT, 1), archive.last_number)
    return ()


def _follow(world: RecordedWorld, hub: Hub, ending: threading.Event) -> None:
    """In a thread: tell the hub what is in the log, then what is added to it."""
    before = last(world.events, KEPT, lambda _: True)
    _reactor.callFromThread(hub.prime, [as_written(each) for each in before])
    follower = EventFollower(world.events, before[-1]["seq"] if before else 0)
    while not ending.wait(_POLL):
        added: list[Record] = []
        with suppress(OSError):  # a file that is just being replaced: it is read a second later
            added = follower.added()
        for memory in (each for each in added if each.get("kind") == MemoryChange.kind):
            with suppress(OSError, KeepsakeError):  # its words can be seen on the agent's page
                _tell_words(world, hub, memory)
        if added:
            hub.written([as_written(each) for each in added])


def _tell_words(world: RecordedWorld, hub: Hub, change: Record) -> None:
    number, n = int(change.get("agent_id") or 0), int(change.get("n") or 0)
    if change.get("op") in ("append", "repeat") and _names_of(world, number) is not None:
        for memory in world.life(number).archive.read(n, n):
            _reactor.callFromThread(hub.remembered, str(change["agent"]), memory)
