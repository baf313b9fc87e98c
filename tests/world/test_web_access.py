"""Who may look at the dashboard and act on it, and what all pages of the site have in common."""

from __future__ import annotations

from django.contrib.sessions.models import Session
from django.test import Client

from keepsake.web.access import may_act, may_watch
from tests.world.web_world import API, DOING, READING, WRITING, WebWorld

CHANGING = {**dict.fromkeys(DOING), **WRITING}


class TestAccess(WebWorld):
    """Who may look and act, and what everybody else sees."""

    def addresses(self):
        for number in (self.mira.id, self.char1.id, 99_999, 10**30):
            for rest in (*READING, *DOING, "/nothing"):
                yield f"{API}/agents/{number}{rest}"
        for rest in (
            "/agents",
            "/events?after=1",
            "/map",
            "/past",
            "/plans",
            "/people",
            "/person?name=Tom",
            "/fact?q=key",
            "/search?q=key",
            "/openapi.json",
            "/",
            "/x/../y",
        ):
            yield f"{API}{rest}"

    def seen_by(self, client: Client, addresses, methods=("get", "post", "put", "delete")):
        """Return all different answers, without the cookie of a first visit."""
        found = set()
        for address in addresses:
            for method in methods:
                answer = getattr(client, method)(address)
                headers = tuple(sorted(answer.headers.items()))
                found.add((answer.status_code, answer.content, headers))
        return found

    def test_strangers_and_players_get_the_same_403_for_every_address_of_the_api(self):
        player = self.account_named("Pia", "Player")
        strangers = self.seen_by(self.client_of(), self.addresses())
        assert len(strangers) == 1
        assert strangers == self.seen_by(self.client_of(player), self.addresses())
        (status, body, _), *_ = strangers
        assert status == 403
        assert b"Mira" not in body

    def test_each_who_may_not_look_gets_the_same_403_for_every_page(self):
        player = self.account_named("Pia", "Player")
        number = self.mira.id
        pages = [
            f"/agents/{rest}" for rest in ("", "search/", "world/", f"{number}/", "9/", "x/y/")
        ]
        ((status, stranger, headers),) = self.seen_by(self.client_of(), pages)
        ((_, logged_in, same),) = self.seen_by(self.client_of(player), pages)
        assert status == 403
        assert [each for each, _ in headers] == [each for each, _ in same]
        assert b"not a builder" not in stranger
        assert b"logged in as <bdi>Pia</bdi>, who is not a builder" in logged_in
        for body in (stranger, logged_in):
            assert b"/auth/login/" in body
            assert b"Mira" not in body

    def test_strangers_get_403_even_when_the_agents_do_not_run(self):
        self.stop_services()  # builders get 503 now
        assert self.client_of().get(f"{API}/agents").status_code == 403

    def check_nothing_changed(self):
        assert not any((self.mira.db.paused, self.mira.db.asleep, self.mind.books.pinned.items))

    def test_builders_and_those_above_them_may_do_all(self):
        for name in ("Builder", "builders", "Admin", "Developer"):
            assert may_act(self.account_named(f"Is{name}", name)), name
        assert may_act(self.account_named("Sue", is_superuser=True))
        assert not may_act(self.account_named("Hal", "Helper"))
        assert not may_act(None)
        assert not may_watch(None)
        closed = self.account_named("Carl", "Admin", is_staff=True, is_active=False)
        assert not may_watch(closed)
        assert not may_act(closed)
        self.get("/agents")
        self.builder.permissions.remove("Builder")
        assert self.web.get(f"{API}/agents").status_code == 403

    def test_staff_may_look_and_not_act(self):
        staff = self.account_named("Stan", "Player", is_staff=True)
        self.web = self.client_of(staff)
        assert self.get("/agents")["agents"][0]["name"] == "Mira"
        for deed, body in CHANGING.items():
            assert "builders" in self.post(self.of_mira(deed), 403, body=body)["error"]
        self.check_nothing_changed()

    def test_actions_need_the_csrf_token(self):
        self.web = self.client_of(self.builder, tokens=True)
        for deed, body in CHANGING.items():
            assert "token" in self.post(self.of_mira(deed), 403, body=body)["error"].lower()
        self.check_nothing_changed()
        self.web.get("/agents/")
        token = self.web.cookies["csrftoken"].value
        address = f"{API}{self.of_mira('/pause')}"
        kind = "application/json"
        wrong = self.web.post(address, "", kind, headers={"X-CSRFToken": "no"})
        assert wrong.status_code == 403
        assert not self.mira.db.paused
        right = self.web.post(address, "", kind, headers={"X-CSRFToken": token})
        assert self.answer("post", self.of_mira("/pause"), right, 200)["done"]
        assert self.mira.db.paused

    def test_pages_are_shown_to_those_who_may_look(self):
        for address in ("/agents/", f"/agents/{self.mira.id}/"):
            answer = self.web.get(address)
            assert answer.status_code == 200, address
            assert "default-src 'self'" in answer["Content-Security-Policy"]
            assert answer["Cache-Control"] == "no-store"
        assert "Mira" in self.web.get(f"/agents/{self.mira.id}/").content.decode()
        assert self.web.get("/agents/99999/").status_code == 404
        assert self.web.get(f"/agents/{self.char1.id}/").status_code == 404


class TestSite(WebWorld):
    """What all pages of the site have in common."""

    def test_nobody_can_frame_the_page_with_the_password(self):
        for page in ("/auth/login/", "/", "/webclient/", "/auth/register", "/nothing-there"):
            answer = self.client_of().get(page)
            assert "frame-ancestors 'none'" in answer["Content-Security-Policy"], page
            assert answer["X-Frame-Options"] == "DENY"
            assert answer["X-Content-Type-Options"] == "nosniff"
        login = self.client_of().get("/auth/login/")
        assert "default-src 'self'" in login["Content-Security-Policy"]
        assert "no-store" in login["Cache-Control"]

    def test_strangers_get_no_session(self):
        before = Session.objects.count()
        for page in ("/agents/", f"{API}/agents", "/agents/1/", "/auth/login/", "/"):
            client = self.client_of()
            client.get(page)
            client.cookies["sessionid"] = "nobodyhasthiskey0123456789abcdef"
            client.get(page)
            client.post(f"{API}/agents/1/pause")
        assert Session.objects.count() == before

    def test_the_web_client_still_gets_its_session_and_shares_the_log_in(self):
        stranger = self.client_of()
        page = stranger.get("/webclient/").content.decode()
        assert f'data-session="{stranger.cookies["sessionid"].value}"' in page
        self.web.get("/agents/")
        assert self.web.session["webclient_authenticated_uid"] == self.builder.id

    def test_players_see_what_agents_know_about_their_own_characters_alone(self):
        self.say("My sister Lotte died in March, Mira.")
        pia = self.add_player(77, "Pia")
        self.say("I bake bread in Ostrey, Mira.", who=pia)
        self.mind.books.update_people(self.mind.memory.memory.archive)
        self.account.characters.add(self.char1)
        anna, bob = (self.client_of(each) for each in (self.account, pia.account))
        for mine, other in ((anna, "Ostrey"), (bob, "Lotte")):
            shown = mine.get("/agents/mine/")
            assert shown.status_code == 200
            text = shown.content.decode()
            assert "Mira" in text
            assert ("Lotte" in text) is (other == "Ostrey")
            assert other not in text
            assert shown.headers["Cache-Control"] == "no-store"
        self.mira.db.unlisted = True
        assert "Mira" not in anna.get("/agents/mine/").content.decode()
        assert "next=/agents/mine/" in self.client_of().get("/agents/mine/").headers["Location"]
        self.stop_services()
        text = self.client_of(self.account).get("/agents/mine/").content.decode()
        assert 'role="alert"' in text
