"""Moderation of a public world: muting, ignoring, reports and an audit log."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from unittest import mock

from django.test import override_settings
from evennia.utils.ansi import strip_ansi

from tests.world.agents_world import Building
from tests.world.test_hospitality import Inn
from typeclasses.accounts import Account

SAID = ("say Hello.", "talk tom Hi.", "emote nods.", "whisper tom = Hi.", "shout Oi!")


class TestModeration(Building, Inn):
    def setUp(self):
        super().setUp()
        self.logs = Path(tempfile.mkdtemp(dir=self.scratch))
        self.enterContext(override_settings(LOG_DIR=str(self.logs)))
        self.account.permissions.add("Admin")
        self.ann = self.add_player(2, "Ann")
        self.shown = self.shows(self.ann)
        self.told = self.shows(self.char1)

    @staticmethod
    def shows(character):
        """Return a list of the texts that its player's connection gets from now on."""
        shown = []

        def sent(**kwargs):
            if text := kwargs.get("text"):
                shown.append(str(text[0] if isinstance(text, tuple | list) else text))

        (session,) = character.sessions.get()
        session.data_out = sent
        return shown

    def pages(self, line):
        """Let Tom page; return what he is shown."""
        self.told.clear()
        self.char1.execute_cmd(f"page {line}")
        return "\n".join(self.told)

    def test_muted_players_are_not_heard(self):
        assert "Muted" in self.type("@mute ann for 30m : shouting")
        assert self.shown[-1].endswith("Reason: shouting")
        for line in (*SAID, "page tom = Hi.", "page tom Hi."):
            self.heard.clear()
            self.ann.execute_cmd(line)
            assert not any("Ann" in text for text in self.heard), line
            assert "muted" in self.shown[-1]
            assert "Reason: shouting" in self.shown[-1]
        with mock.patch("time.time", return_value=time.time() + 1900):
            self.ann.execute_cmd("say Hello.")
        assert 'Ann says, "Hello."' in self.heard
        self.type("@unmute ann")
        self.ann.execute_cmd("say Hi.")
        assert 'Ann says, "Hi."' in self.heard

    def test_speech_and_pages_of_ignored_players_do_not_arrive(self):
        self.pages("ann = Are you there?")
        assert any("Are you there?" in each for each in self.shown)
        self.ann.execute_cmd("ignore tom")
        self.shown.clear()
        for line in ("say Hello.", "talk ann Hi.", "emote nods.", "whisper ann = Hi."):
            self.char1.execute_cmd(line)
        number = Account.objects.get(username="Ann").id
        for line in ("ann = Hi.", "ann Hi."):
            assert "Ann cannot be paged now." in self.pages(line), line
        for line in ("Hi.", "Hi there.", f"#{number} = Hi."):
            assert "Nothing was sent." in self.pages(line), line
        assert self.shown == []
        self.ann.execute_cmd("page/list")
        assert "Hi." not in self.shown[-1]
        self.ann.execute_cmd("ignore tom")
        self.shown.clear()
        self.pages('ann = Hm.|/|gMira says to you, "Come."')
        told = next(strip_ansi(each) for each in self.shown if "from afar" in each)
        assert told.count("\n") == 0, "a page forges no line of the game"
        assert "|/" in told

    def test_help_shows_players_no_builder_commands(self):
        assert "memory-status" in self.type("help")
        self.ann.execute_cmd("help")
        assert "whisper" in self.shown[-1]
        assert not any(each in self.shown[-1] for each in ("memory-status", "ban", "Building"))

    def test_reports_reach_builders_and_are_limited(self):
        self.ann.execute_cmd("report tom = |rHe shouts.|n " + "x" * 2000)
        assert any("[Report]" in text for text in self.heard)
        assert "He shouts." in self.type("@reports")
        for _ in range(9):
            self.ann.execute_cmd("report tom = Again.")
        lines = (self.logs / "reports.jsonl").read_text("utf-8").splitlines()
        assert len(lines) == 6
        assert all(len(line) < 900 for line in lines)

    def test_the_audit_log_has_builders_commands_and_not_players(self):
        self.ann.execute_cmd("say @ban tom")
        self.ann.execute_cmd("@ban tom")
        self.type("@rules")
        self.type("@dig Cellar")
        self.type("@mute ann for 1h : shouting")
        self.type("@userpassword ann = hunter2hunter2")
        text = (self.logs / "audit.jsonl").read_text(encoding="utf-8")
        lines = [json.loads(line) for line in text.splitlines()]
        assert {each["who"] for each in lines} == {"Tom"}
        assert {"@rules", "@dig Cellar"} <= {each["line"] for each in lines}
        assert "hunter2" not in text
        shown = self.type("@audit")
        assert "@dig Cellar" in shown
        assert "@mute ann for 1h : shouting" in shown
        self.account.permissions.clear()
        self.account.permissions.add("Builder")
        assert "not available" in self.type("@audit"), "the log about builders is for admins"
