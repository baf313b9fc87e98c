"""A week in the inn, in short form: the model is scripted, the nights are whole."""

from __future__ import annotations

from game.mind.journal.book import Journal
from game.mind.sleep.log import SleepLog
from tests.game import week_checks as checks
from tests.game import week_model
from tests.game.week import WeekWorld
from tests.game.week_script import SHARED

NIGHTS = 7


class TestWeek(WeekWorld):
    """Once with a model that works in sleep, once with none, once with one that lies."""

    def test_without_a_model_asleep(self):
        self.live()
        self.holds()

    def test_with_an_honest_model_asleep(self):
        self.use_model_asleep(week_model.honest)
        self.live()
        self.holds()

    def test_with_a_model_that_lies(self):
        self.use_model_asleep(week_model.lying)
        self.live()
        self.holds()

    def holds(self):
        """Everything that has to hold after the week, whichever model there is."""
        folder = self.mind.memory.folder
        prompt = self.prompts_of_return()[-1]
        journal = Journal(folder / "journal")
        assert checks.facts_wrong(self.profiles()) == []
        assert checks.nights_wrong(SleepLog(folder).nights(), NIGHTS) == []
        last = self.mind.memory.memory.archive.last_number
        assert checks.journal_wrong(journal.entries(), journal.problems, last) == []
        pins = self.mind.keeper.pinned.lines
        assert checks.persona_wrong(self.mira.db.profile, pins, prompt) == []
        about_tom = [line for line in checks.section(prompt, "## People Here") if "Tom" in line]
        assert SHARED in " ".join(about_tom), prompt
        assert "baker" in " ".join(about_tom), prompt
