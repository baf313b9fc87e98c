"""Tokens with which programs use the API: read-only or not, hashed, revoked, limited in rate."""

from __future__ import annotations

import stat

from django.test import Client

from keepsake.contrib.evennia.audit import AUDIT, newest
from keepsake.web import access
from keepsake.web.programs import api as programs
from keepsake.web.programs.tokens import FILE, PER_MINUTE, TokenStore
from tests.world.web_world import API, WRITING, WebWorld

REFUSED = b"Only staff accounts have access"


class TestTokens(WebWorld):
    """A builder makes tokens; programs use them."""

    def setUp(self):
        super().setUp()
        home = self.services.places.home
        tokens = TokenStore(home, lambda: self.seconds)
        self.seconds = 0.0
        self.file = home / FILE
        self.file.unlink(missing_ok=True)
        before = access.tokens
        access.tokens = lambda: tokens
        self.addCleanup(setattr, access, "tokens", before)
        self.addCleanup(setattr, programs, "tokens", programs.tokens)
        programs.tokens = access.tokens

    def make_token(self, name="a script", **body):
        return self.post("/tokens", body={"name": name, **body})

    def program(self, secret):
        return Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {secret}"})

    def test_a_token_reads_and_nothing_more(self):
        made = self.make_token()
        program = self.program(made["secret"])
        agents = program.get(f"{API}/agents")
        assert [each["name"] for each in agents.json()["agents"]] == ["Mira"]
        assert not agents.json()["agents"][0]["may_act"]
        for deed, body in WRITING.items():
            answer = program.post(f"{API}{self.of_mira(deed)}", body, "application/json")
            assert answer.status_code == 403
            assert "may only read" in answer.json()["error"]
        assert not self.mind.books.pinned.items

    def test_a_token_that_writes_acts_and_is_in_the_audit_log(self):
        program = self.program(self.make_token("a bot", writes=True)["secret"])
        body = {"text": "Tom keeps bees."}
        answer = program.post(f"{API}{self.of_mira('/pin')}", body, "application/json")
        assert answer.json()["done"], "no CSRF token is needed: no browser sends this header"
        assert self.mind.books.pinned.shown == ("Tom keeps bees.",)
        assert newest(AUDIT, 1)[0]["who"] == "token a bot"

    def test_only_the_hash_is_stored_and_only_for_the_owner(self):
        made = self.make_token()
        stored = self.file.read_text()
        assert made["secret"].startswith("keepsake_")
        assert made["secret"] not in stored
        assert made["secret"].removeprefix("keepsake_") not in stored
        assert stat.S_IMODE(self.file.stat().st_mode) == 0o600
        (listed,) = self.get("/tokens")
        assert "secret" not in listed
        assert listed["last_used"] is None
        self.program(made["secret"]).get(f"{API}/agents")
        assert self.get("/tokens")[0]["last_used"] is not None

    def test_a_revoked_or_unknown_token_is_a_strangers(self):
        made = self.make_token()
        program = self.program(made["secret"])
        assert program.get(f"{API}/agents").status_code == 200
        self.post("/tokens/revoke", body={"id": made["token"]["id"]})
        for client in (program, self.program("keepsake_no"), self.program("")):
            answer = client.get(f"{API}/agents")
            assert answer.status_code == 403
            assert REFUSED in answer.content
        assert "no token" in self.post("/tokens/revoke", 400, body={"id": 77})["error"]

    def test_a_token_ends_with_its_makers_permission(self):
        program = self.program(self.make_token()["secret"])
        self.builder.permissions.remove("Builder")
        assert program.get(f"{API}/agents").status_code == 403
        self.builder.permissions.add("Builder")
        assert program.get(f"{API}/agents").status_code == 200

    def test_the_rate_is_limited(self):
        program = self.program(self.make_token()["secret"])
        other = self.program(self.make_token("another")["secret"])
        for _ in range(PER_MINUTE):
            assert program.get(f"{API}/plans").status_code == 200
        answer = program.get(f"{API}/plans")
        self.answer("get", "/plans", answer, 429)
        assert answer["Retry-After"] == "60"
        assert other.get(f"{API}/plans").status_code == 200
        self.seconds = 60.5
        assert program.get(f"{API}/plans").status_code == 200

    def test_programs_and_players_do_not_manage_tokens(self):
        made = self.make_token("a bot", writes=True)
        program = self.program(made["secret"])
        answer = program.post(f"{API}/tokens", {"name": "more"}, "application/json")
        assert answer.status_code == 403
        assert program.get(f"{API}/tokens").status_code == 403
        self.web = self.client_of(self.account_named("Stan", "Player", is_staff=True))
        self.get("/tokens", 403)
        self.post("/tokens", 403, body={"name": "mine"})

    def test_a_name_is_used_once(self):
        self.make_token("a bot")
        assert "already" in self.post("/tokens", 400, body={"name": "A  bot"})["error"]
        assert "name" in self.post("/tokens", 400, body={"name": "  "})["error"]
        assert "writes" in self.post("/tokens", 400, body={"name": "b", "writes": "yes"})["error"]

    def test_a_page_shows_them_to_builders(self):
        answer = self.web.get("/agents/tokens")
        assert answer.status_code == 200
        assert b"Authorization: Bearer" in answer.content
        program = self.program(self.make_token()["secret"])
        assert program.get("/agents/").status_code == 403, "tokens are for the API"
