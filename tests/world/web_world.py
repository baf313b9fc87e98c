"""A world for tests of the web API. Each answer is checked against the API's description."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
from django.test import Client
from evennia.utils import create

from keepsake.web.api import api
from tests.memories import seen
from tests.world.agents_world import LoggedWorld
from typeclasses.accounts import Account

API = "/agents/api"
READING = (
    "",
    "/prompt",
    "/tiers",
    "/as-of?t=2026-05-01T12:00:00Z",
    "/memories",
    "/past",
    "/profile",
    "/plans",
    "/file?of=pins&file=pinned.md",
    "/summary?tier=recent",
    "/recall?q=key",
    "/compactions",
    "/series",
    "/why",
)
"""Paths of what may be read of an agent."""
DOING = ("/pause", "/resume", "/compact", "/sleep", "/wake")
"""Paths of actions without a body."""
WRITING = {
    "/undo": {},
    "/pin": {"text": "Tom keeps bees."},
    "/unpin": {"text": "1"},
    "/note": {"title": "well", "text": "The cup lies there."},
    "/edit-profile": {"text": "You are Mira.", "was": ""},
    "/edit-file": {"of": "pins", "file": "pinned.md", "text": "- Tom keeps bees.", "was": ""},
    "/restore-file": {"of": "pins", "file": "pinned.md", "version": "1"},
    "/edit-summary": {"tier": "recent", "text": "- Tom keeps bees.", "was": "- Tom."},
}
"""Paths of changes that builders may make, with a body for each."""
_DOCUMENT = json.loads(json.dumps(api.get_openapi_schema()))
_PATHS = {
    re.compile(re.sub(r"\\\{\w+\\\}", r"\\d+", re.escape(path.removeprefix(API)))): each
    for path, each in _DOCUMENT["paths"].items()
}


class WebWorld(LoggedWorld):
    """Mira, Tom, an event log, and a builder with a browser."""

    def setUp(self) -> None:
        super().setUp()
        self.builder = self.account_named("Bea", "Builder")
        self.web = self.client_of(self.builder)

    def account_named(self, name: str, *permissions: str, **flags: bool) -> Account:
        """Create an account that can log in."""
        made = create.create_account(name, None, "c67jHL8p", typeclass=Account)
        for permission in permissions:
            made.permissions.add(permission)
        for flag, value in flags.items():
            setattr(made, flag, value)
        made.save()
        return made

    def client_of(self, account: Account | None = None, *, tokens: bool = False) -> Client:
        """Return a browser, logged in or not; with ``tokens`` it must send CSRF tokens."""
        client = Client(enforce_csrf_checks=tokens)
        if account is not None:
            client.force_login(account)
        return client

    def get(self, path: str, status: int = 200, **query: Any) -> Any:
        """Return the API's answer to the builder, after all events so far are in the log."""
        assert self.log.problem or self.log.flush(60) or self.log.problem
        return self.answer("get", path, self.web.get(f"{API}{path}", query), status)

    def post(self, path: str, status: int = 200, body: Any = None) -> Any:
        """Return the answer to a request that changes something."""
        sent = self.web.post(f"{API}{path}", body or "", content_type="application/json")
        return self.answer("post", path, sent, status)

    def answer(self, method: str, path: str, answer: Any, status: int) -> Any:
        """Return the answer as data, after a check against the API's description."""
        assert answer.status_code == status, answer.content
        assert answer["Content-Type"] == "application/json"
        found = answer.json()
        said = next((each for pattern, each in _PATHS.items() if pattern.fullmatch(path)), {})
        # For an unknown address or method the answer is an error like any other.
        answers = said.get(method, {}).get("responses", {}) or _PATHS_OF_ALL
        schema = answers[str(status)]["content"]["application/json"]["schema"]
        jsonschema.Draft202012Validator(schema | {"components": _DOCUMENT["components"]}).validate(
            found
        )
        return found

    def of_mira(self, rest: str = "") -> str:
        """Return the path of Mira in the API."""
        return f"/agents/{self.mira.id}{rest}"

    def add_memories(self, count: int) -> None:
        """Let Mira remember this many lines that Tom said."""
        for number in range(1, count + 1):
            self.mind.memory.remember(
                seen(f'Tom says, "Barrel {number} holds {number * 7} herrings."', "Tom"),
                place="The Inn",
                event="say",
            )
            self.wait_for_compaction()


_PATHS_OF_ALL = _DOCUMENT["paths"][f"{API}/agents"]["get"]["responses"]
