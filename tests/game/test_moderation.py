"""What a public world needs: bans and silence for a time, ignoring, reports, and an audit."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from unittest import mock

from django.test import override_settings
from evennia.server.models import ServerConfig

from commands.audit import AUDIT, path_of
from tests.game.agents_world import Building
from tests.game.test_hospitality import Inn
from typeclasses.accounts import Account


class TestModeration(Building, Inn):
    def setUp(self):
        super().setUp()
        self.enterContext(override_settings(LOG_DIR=tempfile.mkdtemp(dir=self.scratch)))
        self.account.permissions.add("Admin")
        self.ann = self.guest(2, "Ann")
        self.shown: list[str] = []
        (session,) = self.ann.sessions.get()
        session.data_out = self._sent

    def _sent(self, **kwargs):
        """What reaches Ann's connection."""
        if text := kwargs.get("text"):
            self.shown.append(str(text[0] if isinstance(text, tuple | list) else text))

    def at(self, seconds):
        """The same moment, so much later."""
        later = time.time() + seconds
        return mock.patch("time.time", return_value=later)

    def test_a_ban_ends_by_itself(self):
        assert "connections closed: 1" in self.type("@ban ann for 2d : shouting")
        assert "You have been banned." in self.shown
        assert "until" in self.type("@ban")
        assert Account.is_banned(username="Ann")
        with self.at(3 * 86_400):
            assert not Account.is_banned(username="Ann")
        assert ServerConfig.objects.conf("server_bans") == []
        assert "Banned" in self.type("@ban ann")
        with self.at(400 * 86_400):
            assert Account.is_banned(username="ann"), "for good"
        assert "There is no account" in self.type("@ban nobody for 1h")
        assert "Banned" in self.type("@ban 134.233.2.* for 1h")
        assert Account.is_banned(ip="134.233.2.77")

    def test_the_silenced_are_not_heard(self):
        assert "Silenced" in self.type("@mute ann for 30m")
        for line in ("say Hello.", "talk tom Hi.", "emote nods.", "whisper tom = Hi.", "shout Oi!"):
            self.heard.clear()
            self.ann.execute_cmd(line)
            assert not any("Ann" in text for text in self.heard), line
            assert "silenced" in self.shown[-1]
        with self.at(1900):
            self.ann.execute_cmd("say Hello.")
        assert 'Ann says, "Hello."' in self.heard
        self.type("@unmute ann")
        self.ann.execute_cmd("say Hi.")
        assert 'Ann says, "Hi."' in self.heard
        assert "For how long" in self.type("@mute ann")

    def test_who_is_ignored_is_not_heard_whatever_they_are_called(self):
        self.ann.execute_cmd("ignore tom")
        self.ann.key = "Annie"
        for line in ("say Hello.", "talk annie Hi.", "emote nods.", "whisper annie = Hi."):
            self.shown.clear()
            self.char1.execute_cmd(line)
            assert self.shown == [], line
        self.ann.execute_cmd("ignore")
        assert "Tom" in self.shown[-1]
        self.ann.execute_cmd("ignore tom")
        self.char1.execute_cmd("say Hello.")
        assert 'Tom says, "Hello."' in self.shown

    def test_a_report_is_read_by_builders_and_is_bounded(self):
        self.ann.execute_cmd("report tom = |rHe shouts.|n " + "x" * 2000)
        assert any("[Report]" in text for text in self.heard)
        assert "He shouts." in self.type("@reports")
        for _ in range(9):
            self.ann.execute_cmd("report tom = Again.")
        lines = path_of("reports.jsonl").read_text().splitlines()
        assert len(lines) == 6
        assert all(len(line) < 900 for line in lines)

    def test_what_builders_do_is_written_down_and_what_players_do_is_not(self):
        self.ann.execute_cmd("say @ban tom")
        self.ann.execute_cmd("@ban tom")
        self.type("@rules")
        self.type("@dig Cellar")
        self.type("@userpassword ann = hunter2hunter2")
        text = Path(path_of(AUDIT)).read_text()
        lines = [json.loads(line) for line in text.splitlines()]
        assert {each["who"] for each in lines} == {"Tom"}
        assert {"@rules", "@dig Cellar"} <= {each["line"] for each in lines}
        assert "hunter2" not in text
        assert "@dig Cellar" in self.type("@audit")
