"""What deeds answer in place of a model, and what agents remember of deeds."""

from __future__ import annotations

from evennia.utils.ansi import strip_ansi

from keepsake.agent.memory.known_news import concerns
from keepsake.agent.surroundings.identity import identity_of
from keepsake.archive.privacy import is_private
from keepsake.books.person_page import line_of
from tests.world.deeds_world import DeedsVillage
from world import days
from world.days import NEWS_IMPORTANCE, news_for


class TestAnswers(DeedsVillage):
    """A step of a deed answers its listener's questions, so that no model is asked."""

    FORM = "dialogue"

    def prompts_of(self, name: str) -> list[str]:
        """Return the prompts of that agent's answers, without those that only read ahead."""
        asked = [call.body for call in self.fake.calls("/api/generate")]
        asked = [body for body in asked if body["options"]["num_predict"] > 1]
        return [body["prompt"] for body in asked if body["prompt"].endswith(f"{name}:")]

    def ask(self, place: str, says: str, who: str, words: str) -> int:
        """Ask somebody there; return the number of their prompts before the question."""
        self.pass_time(30)
        self.replies = [says] * 9
        self.play(f"{place}: look")
        self.pass_time(30)
        before = len(self.prompts_of(who))
        self.type(f"talk {who} {words}")
        self.pass_time(30)
        return before

    def test_the_model_is_not_asked_what_the_deed_has_answered(self):
        before = self.ask("orchard", "Never heard of any.", "Bram", "Are there any apples?")
        assert "comes back with a basket" in strip_ansi("\n".join(self.heard))
        assert len(self.prompts_of("Bram")) == before
        self.type("talk bram Do you like it here?")
        self.pass_time(30)
        assert len(self.prompts_of("Bram")) > before

    def test_a_second_question_in_the_line_is_answered_by_the_model(self):
        words = "Mira says the soup is on. And who was Ada?"
        before = self.ask("clock_shop", "My wife.", "Oswin", words)
        told = strip_ansi("\n".join(self.heard))
        assert 0 < told.find("when these two agree") < told.find("My wife.")
        assert "And who was Ada?" in self.prompts_of("Oswin")[before]


class TestAnswersWithAModelThatActs(DeedsVillage):
    """A step of a deed is done; what the player said besides is for the model."""

    def asked(self, words: str, *replies: str) -> list[str]:
        """Ask Bram in the orchard; return the prompts of his answer."""
        self.replies = ["> wait"]
        self.play("orchard: look")
        self.pass_time(30)
        before = len(self.prompts())
        self.replies = [*replies, "> wait"]
        self.type(f"talk bram {words}")
        self.pass_time(10)
        return [each for each in self.prompts()[before:] if "You are Bram" in each]

    def test_a_longer_request_is_answered_by_the_step_and_by_the_model(self):
        words = "Bram, bring Oswin two apples and ask how his clocks are."
        plan = "I'll go right away.\n> plan now, Oswin: bring him two apples"
        (prompt, *_) = self.asked(words, plan)
        told = strip_ansi("\n".join(self.heard))
        assert 0 < told.find("comes back with a basket") < told.find("I'll go right away.")
        assert words in prompt
        assert "you filled a basket such as Mira bakes from" in prompt
        mind = self.agent("bram").mind
        assert mind is not None
        assert [each.what for each in mind.books.plans.current] == ["bring him two apples"]

    def test_a_request_of_the_steps_own_words_needs_no_model(self):
        assert self.asked("Bram, are there any apples?") == []
        assert "comes back with a basket" in strip_ansi("\n".join(self.heard))


class TestDeedsAsMemories(DeedsVillage):
    """What agents remember of deeds."""

    def test_a_deeds_text_about_the_agent_itself_is_no_news_for_others(self):
        self.play("kettle: look")
        (own,) = [m for m in self.memories("mira") if "you asked for two things" in m.text]
        assert own.importance >= NEWS_IMPORTANCE
        assert news_for(self.agent("mira"), self.agent("joss"), own.time) is None
        assert line_of(own) is None, "Tom did nothing, so his page has nothing of it"

    def test_a_deed_is_no_news_to_those_who_took_part_in_it(self):
        nell, bram, joss, oswin = map(self.agent, ("nell", "bram", "joss", "oswin"))
        for who in (nell, bram):
            self.put(who, "letter_office")
        self.play_all("green_wax.sealed")
        told = "Tom gives Nell a stick of green wax."
        (seen,) = [m for m in self.memories("bram") if m.text == told]
        (own,) = [m for m in self.memories("nell") if m.event == "kindness"]
        assert seen.happening == own.happening
        assert concerns(seen, identity_of(nell))
        news = news_for(bram, joss, seen.time)
        assert news is not None
        assert news[1] == told
        assert news_for(bram, nell, seen.time) is None
        for who in (bram, joss):
            self.put(who, "orchard")
        days._tell(news, bram, joss)
        (hearsay,) = [m for m in self.memories("joss") if m.event == "hearsay"]
        assert hearsay.origins == (seen.happening,)
        assert news_for(joss, oswin, seen.time) is not None
        assert news_for(joss, nell, seen.time) is None

    def test_an_answer_to_a_whisper_is_remembered_as_a_whisper(self):
        self.play("ferry_stage: whisper joss = That is a cork vest, is it not?")
        own = [m for m in self.memories("joss") if m.kind == "act" and m.to == "Tom"]
        whole = "Every crossing. Every single one. You'd have thought it would wear off."
        assert [m.text for m in own] == [f"whisper Tom = {whole}"]
        assert is_private(own[0])
        assert own[0].to_id == identity_of(self.char1)
