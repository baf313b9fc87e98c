"""Limits on password attempts and new accounts, for every kind of log-in."""

from __future__ import annotations

import html
import threading
from collections import deque
from types import SimpleNamespace
from typing import Any
from unittest import mock

from django.core.cache import caches
from django.test import Client
from evennia.server.models import ServerConfig
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.world.built_world import PeopleWorld
from typeclasses import throttle
from typeclasses.accounts import Account

PASSWORD = "tide-and-time"
HOMES = {"Piet": "10.0.0.1", "Ilse": "10.0.0.2"}
"""Two players, and the address from which each has played."""
ADDRESSES = ("10.0.0.1", "10.0.0.2", "10.0.0.3")
NAMES = ("Piet", "Ilse", "Nobody", *(f"Guess{number}" for number in range(60)))
PAGES = ("/auth/login/", "/admin/login/")


class Doors(PeopleWorld):
    """Two players' accounts, and a clock that only tests move."""

    def setUp(self) -> None:
        super().setUp()
        here = f"#{self.room1.id}"
        self.enterContext(self.settings(START_LOCATION=here, DEFAULT_HOME=here))
        self.now = 1_000_000.0
        clock = SimpleNamespace(time=lambda: self.now)
        for module in ("base", "locmem"):
            patch = mock.patch(f"django.core.cache.backends.{module}.time", clock)
            self.enterContext(patch)
        self.forget()
        self.addCleanup(self.forget)
        for name, address in HOMES.items():
            account, errors = Account.create(username=name, password=PASSWORD, ip=address)
            assert account is not None, errors
            account.is_staff = True  # for the admin pages
            account.save()
        self.forget()

    def forget(self) -> None:
        caches["throttle"].clear()

    def try_at(self, door: str, name: str, password: str, address: str) -> str:
        """Try to log in at a page or the ``game``; return ``in``, ``wrong`` or ``refused``."""
        if door == "game":
            account, errors = Account.authenticate(name, password, ip=address)
            inside = account is not None
            told = " ".join(errors)
        else:
            browser = Client(headers={"host": "localhost"}, REMOTE_ADDR=address)
            answer = browser.post(door, {"username": name, "password": password})
            inside = answer.status_code == 302
            told = html.unescape(answer.text)
        refused = any(each in told for each in ("Too many", "You have been banned"))
        return "in" if inside else "refused" if refused else "wrong"

    def register(self, name: str, address: str) -> Any:
        form = {"username": name, "password1": PASSWORD, "password2": PASSWORD}
        browser = Client(headers={"host": "localhost"}, REMOTE_ADDR=address)
        return browser.post("/auth/register", form)


class TestPasswords(Doors):
    """Wrong and right passwords from known and unknown addresses."""

    def test_wrong_passwords_count_together_for_all_kinds_of_log_in(self):
        doors = ("game", "/auth/login/", "/admin/login/", "game", "/auth/login/")
        assert [self.try_at(door, "Piet", "x", "10.0.0.9") for door in doors] == ["wrong"] * 5
        for door in ("game", *PAGES):
            assert self.try_at(door, "Piet", "x", "10.0.0.9") == "refused"
            # Accepting the right password would tell a robot that it has found it.
            assert self.try_at(door, "PIET", PASSWORD, "10.0.0.9") == "refused"
            assert self.try_at(door, "Ilse", PASSWORD, "10.0.0.9") == "in"
        assert self.try_at("game", "Piet", PASSWORD, HOMES["Piet"]) == "in"
        self.now += throttle.PAIR_SECONDS + 1
        assert self.try_at(PAGES[0], "Piet", PASSWORD, "10.0.0.9") == "in"

    def test_a_botnet_is_slowed_down_and_the_owner_can_log_in(self):
        tried = [self.try_at("game", "Piet", "summer", f"10.1.0.{each}") for each in range(200)]
        assert tried.count("wrong") == throttle.ACCOUNT_LIMIT + 1
        assert self.try_at("game", "Piet", PASSWORD, HOMES["Piet"]) == "in"
        assert self.try_at("game", "Ilse", PASSWORD, "10.1.0.7") == "in"
        self.forget()
        # An IPv6 network counts as one address.
        tried = [self.try_at("game", "Piet", "x", f"2001:db8::{each:x}") for each in range(1, 20)]
        assert tried.count("wrong") == throttle.PAIR_LIMIT
        assert self.try_at("game", "Piet", PASSWORD, "2001:db8:0:1::1") == "in"

    def test_simultaneous_attempts_share_one_limit(self):
        barrier = threading.Barrier(15)
        tried = deque[bool]()

        def at_once() -> None:
            barrier.wait()
            tried.append(not throttle.attempt("Piet", "10.0.0.9").refusal)

        threads = [threading.Thread(target=at_once) for _ in range(15)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert sum(tried) == throttle.PAIR_LIMIT

    def test_bans_hold_on_web_pages_too(self):
        ServerConfig.objects.conf("server_bans", [("piet", "", "", "", "")])
        self.addCleanup(ServerConfig.objects.conf, "server_bans", delete=True)
        for door in ("game", *PAGES):
            assert self.try_at(door, "Piet", PASSWORD, HOMES["Piet"]) == "refused"
        assert self.try_at(PAGES[0], "Ilse", PASSWORD, HOMES["Piet"]) == "in"

    def test_odd_names_and_passwords_are_only_wrong(self):
        for odd in ("", " ", "x" * 100_000, "\x00", "%_", "\u0130", "a\nb", "\U0001f600"):
            assert self.try_at("game", odd, odd, "10.0.0.8") in ("wrong", "refused")
            assert self.try_at(PAGES[0], odd, odd, "10.0.0.7") in ("wrong", "refused")


class TestWhateverHappens(Doors):
    """Any sequence of right and wrong passwords, by address and kind of log-in."""

    def test_the_limits_hold_and_known_addresses_get_in(self):
        steps = st.lists(
            st.tuples(
                st.sampled_from(("game", PAGES[0])),
                st.sampled_from(NAMES) | st.sampled_from(("Piet", "Ilse")),
                st.sampled_from(ADDRESSES),
                st.booleans() | st.just(False),
                st.integers(0, 12) | st.just(0) | st.integers(0, 700),
            ),
            max_size=120,
        )

        @settings(max_examples=25)
        @given(steps)
        def holds(course: list[tuple[str, str, str, bool, int]]) -> None:
            self.forget()
            wrong: list[tuple[float, str, str]] = []
            for door, name, address, right, seconds in course:
                self.now += seconds
                password = PASSWORD if right else "summer"
                found = self.try_at(door, name, password, address)
                recent = [
                    each
                    for each in wrong
                    if each[1:] == (name, address) and self.now - each[0] <= throttle.PAIR_SECONDS
                ]
                if HOMES.get(name) == address and len(recent) < throttle.PAIR_LIMIT:
                    assert found == ("in" if right else "wrong")
                if found == "wrong":
                    wrong.append((self.now, name, address))
                self.bounded(wrong, address)

        holds()

    def bounded(self, wrong: list[tuple[float, str, str]], address: str) -> None:
        """Check the number of wrong passwords in any period: at most two windows and the turns."""
        strangers = [
            when
            for when, name, source in wrong
            if source == address and HOMES.get(name) != address
            if self.now - when < throttle.WINDOW_SECONDS
        ]
        turns = throttle.WINDOW_SECONDS // throttle.RETRY_SECONDS + 1
        assert len(strangers) <= 2 * throttle.ADDRESS_LIMIT + turns


class TestRegistration(Doors):
    """New accounts, at the login screen and on the web page."""

    def test_new_accounts_of_an_address_are_limited_and_refusals_do_not_count(self):
        for _ in range(2 * throttle.CREATION_LIMIT):
            assert Account.create(username="Piet", password=PASSWORD, ip="10.0.0.4")[0] is None
        letters = "abcdefghijklmnopqrstuvwxyz"
        made = 0
        for number, letter in enumerate(letters):
            name = f"Wander{letter}{letters[-1 - number]}q"
            if number % 2:
                made += self.register(name, "10.0.0.4").status_code == 302
            else:
                account, _ = Account.create(username=name, password=PASSWORD, ip="10.0.0.4")
                made += account is not None
        assert made == throttle.CREATION_LIMIT
        assert "Too many accounts" in html.unescape(self.register("Latrice", "10.0.0.4").text)
        assert self.register("Elsbeth", "10.0.0.5").status_code == 302
        self.now += throttle.CREATION_SECONDS + 1
        assert self.register("Latrice", "10.0.0.4").status_code == 302
