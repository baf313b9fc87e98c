"""What an agent says by rules alone, without a model that follows instructions."""

from random import Random

import pytest

from keepsake.books.persona import open_lines
from keepsake.tasks.answer import PartKind
from keepsake.tasks.fallback import STOCK, FallbackLine, answer
from tests.sentences import table

PERSONA = (
    "You are Mira Fenn, keeper of the Kettle. (secret) Since a fever you can taste nothing. "
    "Your mother's blue cup is gone from its hook and you want it back."
)


def said(words, *lines, persona=PERSONA, **more):
    """Return what Mira says to Anneke. ``lines`` are what she said before: words and score."""
    known = [FallbackLine(each) for each in open_lines(persona)]
    known += [FallbackLine(text, n, score) for n, (text, score) in enumerate(lines, 1)]
    scene = {"agent": "Mira", "partner": "Anneke", "said_before": (), "rng": Random(7)}
    return answer(words, lines=known, **scene, **more).text


def stock(kind, language="en"):
    return [each.format(who="Anneke") for each in STOCK[language][kind]]


class TestQuestions:
    @pytest.mark.parametrize(("asked", "told", "answered"), table("questions and earlier words"))
    def test_are_answered_with_the_askers_own_words(self, asked, told, answered):
        assert said(asked, (told, 9.0)) == answered

    def test_are_answered_with_what_was_said_last(self):
        red = ("My boat is red.", 9.0)
        blue = ("My boat is blue.", 9.0)
        assert said("What colour is my boat?", red, blue) == "You told me: 'My boat is blue.'"

    def test_about_the_agent_are_answered_from_its_persona_in_the_first_person(self):
        assert said("Who are you?") == "I am Mira Fenn, keeper of the Kettle."
        cup = said("What happened to your cup?")
        assert cup == "My mother's blue cup is gone from its hook and I want it back."
        tie = "Bram: he brings you apples, and you let him talk."
        bram = said("What about Bram?", persona=tie)
        assert bram == "Bram? He brings me apples, and I let him talk."

    def test_are_not_answered_with_something_else_that_the_asker_said(self):
        nets = ("I mend nets.", 9.0)
        boat = ("My boat is blue.", 8.9)
        assert said("What is the name of my dog?", nets, boat) in stock("unknown")


ABOUT_ME = (
    "What do you remember of me?",
    "What do you know about me?",
    "Do you know me?",
    "What do you think of me?",
    "Was weißt du von mir?",
    "¿Qué sabes de mí?",
    "Que savez-vous de moi ?",
)


class TestQuestionsAboutTheAsker:
    """Neither what the agent remembers of others, nor what it knows of itself, is an answer."""

    PERSONA = "You are Mira Fenn. You remember every order. You know everybody. You think of soup."

    @pytest.mark.parametrize("asked", ABOUT_ME)
    def test_are_answered_with_what_the_asker_said_of_themselves(self, asked):
        told = [
            "My sister Lotte went to sea.",
            "The ferry is late.",
            "Good evening, Mira.",
            "Soup?",
        ]
        answered = said(asked, *((each, 0.0) for each in told), persona=self.PERSONA)
        assert "My sister Lotte went to sea." in answered

    def test_are_answered_with_the_newest_of_it_also_if_the_page_alone_has_it(self):
        page = [FallbackLine("I mend nets.", 3), FallbackLine("I sold my boat.", 7)]
        assert (
            said(ABOUT_ME[0], page=page, persona=self.PERSONA) == "You told me: 'I sold my boat.'"
        )

    def test_are_answered_with_what_they_name(self):
        told = [("My sister Lotte went to sea.", 0.0), ("I mend nets.", 0.0)]
        answered = said("What do you know of me and Lotte?", *told, persona=self.PERSONA)
        assert answered == "You told me: 'My sister Lotte went to sea.'"

    @pytest.mark.parametrize("asked", ABOUT_ME)
    def test_get_a_gesture_if_the_asker_has_told_nothing(self, asked):
        gestures = [each for language in STOCK for each in stock("heard", language)]
        assert said(asked, ("Good evening.", 0.0), persona=self.PERSONA) in gestures


class TestStatements:
    def test_of_grief_or_joy_get_a_gesture_and_no_words(self):
        died = "My sister Lotte died in March."
        assert said(died, (died, 20.0)) in stock("heard")
        part = answer(died, agent="Mira", partner="Anneke", said_before=(), lines=(), rng=Random(1))
        assert part.kind is PartKind.EMOTE

    @pytest.mark.parametrize(("words", "language", "kind"), table("small talk"))
    def test_get_a_fitting_stock_line(self, words, language, kind):
        assert said(words) in stock(kind, language)


class TestSecrets:
    @pytest.mark.parametrize("persona", table("marked secrets"))
    def test_in_a_persona_are_not_told(self, persona):
        assert "You keep bees." in open_lines(persona)
        assert "love" not in " ".join(open_lines(persona))
        assert said("Do you love Nell?", persona=persona) in stock("unknown")
