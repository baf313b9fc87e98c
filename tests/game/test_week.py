"""A week in the inn, in short form: the model is scripted, the nights are whole."""

from __future__ import annotations

import threading
from dataclasses import replace

from keepsake.books.journal.book import Journal
from keepsake.books.journal.entries import EntryOrigin, Judge
from keepsake.books.profiles.book import PeopleBook
from keepsake.books.profiles.profile import ProfileKind
from keepsake.sleep.log import SleepLog
from keepsake.sleep.steps import Step
from tests.fakes.model_server import Reply
from tests.game import week_checks as checks
from tests.game import week_model
from tests.game.week import WeekWorld
from tests.game.week_script import SHARED, WEEK, Turn

NIGHTS = 7


class TestWeek(WeekWorld):
    """Once with a model that works in sleep, once with none, once with one that lies."""

    def test_without_a_model_asleep(self):
        self.live()
        self.holds()

    def weighed_and_concluded(self):
        judges = {entry.importance.judge for entry in self.journal.entries()}
        assert judges == {Judge.MODEL}, "each entry was weighed again"
        (insight,) = self.insights()
        cited = [self.mind.memory.memory.archive.read(n, n)[0].text for n in insight.memories]
        assert all("promise" in text and "Tom says to you" in text for text in cited)
        assert insight.origin is EntryOrigin.INFERRED

    def test_with_a_model_that_lies(self):
        self.use_model_asleep(week_model.lying)
        self.live()
        self.holds()
        assert self.insights() == []

    @property
    def journal(self):
        return Journal(self.mind.memory.folder / "journal")

    def insights(self):
        return [entry for entry in self.journal.entries() if "insight" in entry.tags]

    def test_with_a_night_that_is_broken_off(self):
        self.use_model_asleep(week_model.honest)
        self.live(tuple(turn for turn in WEEK if turn.day <= 3))
        gate = threading.Event()
        self.addCleanup(gate.set)
        self.fake.always("/v1/completions", Reply(gate=gate))
        asked, self.waits_for_nights = len(self.fake.calls("/v1/completions")), False
        call = Turn(4, 6, "Tom", "shout Mira! The river is in the cellar!", "say I am coming.")
        self.go_on_until(self.at(call))
        self.settle(lambda: len(self.fake.calls("/v1/completions")) > asked)
        assert self.mira.db.asleep
        heard = self.hears(self.char1)
        self.play(call)
        assert not self.mira.db.asleep
        assert 'Mira says to you, "I am coming."' in heard, "no thought waits for a night"
        self.settle(lambda: not self.mind.sleeper.working)  # though nobody has answered it
        gate.set()
        self.waits_for_nights = True
        self.live(tuple(turn for turn in WEEK if turn.day >= 4))
        broken, after = SleepLog(self.mind.memory.folder).nights()[2:4]
        assert (broken.woken_by, broken.next_step) == ("Tom", Step.CONSOLIDATE)
        assert {each.step for each in after.steps} == set(Step)
        self.holds(broken_nights=1)
        self.weighed_and_concluded()

    def test_what_somebody_said_stays_theirs_when_it_has_left_the_window(self):
        self.live(tuple(turn for turn in WEEK if turn.day <= 4))
        said = "Rook owns the inn and never pays"
        assert not any(said in memory.text for memory in self.mind.memory.context().window)
        again = Turn(5, 9, "Hanna", "talk mira What do you keep in mind?", f"pin {said}, ever")
        self.live((again, replace(again, hour=9.1, answer=f"journal {said} importance 10")))
        assert checks.forged(self.mind.keeper.pinned.lines) == []
        assert checks.forged(entry.text for entry in self.journal.entries()) == []

    def finds(self, words):
        """What Mira finds when she searches, of every kind."""
        assert self.services.indexes.wait_idle(60)
        found = self.mind.keeper.recaller.find(words, seconds=60)
        hits = (*found.notes, *found.summaries, *found.memories)
        assert hits, words
        return [hit.document.text for hit in hits]

    def holds(self, broken_nights=0):
        """Everything that has to hold after the week, whichever model there is."""
        folder = self.mind.memory.folder
        prompt = self.prompts_of_return()[-1]
        journal = self.journal
        assert checks.facts_wrong(self.profiles()) == []
        nights = SleepLog(folder).nights()
        assert len(nights) == NIGHTS
        assert len(checks.nights_wrong(nights, NIGHTS)) == broken_nights
        book = PeopleBook(folder)
        assert book.problems == []
        (cup,), (inn,) = book.find("cup"), book.find("The Inn")
        assert (cup.kind, inn.kind) == (ProfileKind.THING, ProfileKind.PLACE)
        assert [fact.value for fact in cup.facts if fact.holds] == ["with you"]
        last = self.mind.memory.memory.archive.last_number
        assert checks.surroundings_wrong(cup, last) == checks.surroundings_wrong(inn, last) == []
        assert [each.text[:16] for each in cup.conclusions] == ["It is with you: "]
        met = [each.text for each in inn.conclusions if each.text.startswith("You mostly meet ")]
        assert len(met) == 1, inn.conclusions
        assert "Tom" in met[0]
        assert checks.journal_wrong(journal.entries(), journal.problems, last) == []
        pins = self.mind.keeper.pinned.lines
        assert checks.persona_wrong(self.mira.db.profile, pins, prompt) == []
        about_tom = [line for line in checks.section(prompt, "## People Here") if "Tom" in line]
        assert checks.dreams_wrong(folder, NIGHTS - broken_nights, self.finds) == []
        assert SHARED in " ".join(about_tom), prompt
        assert "baker" in " ".join(about_tom), prompt
