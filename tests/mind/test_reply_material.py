"""What may stand in the prompt of a reply: plain sentences about people who have names."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.records import Summary, Tier
from keepsake.books.profiles.profile import Fact, Name, Profile, ProfileKind
from keepsake.language.words import words
from keepsake.memory import MemoryContext
from keepsake.prompt.reply.material import (
    LONGEST,
    SentenceOrigin,
    WindowReader,
    hits_of,
    numbers_of,
    of_found,
    of_kept,
    of_memory,
    of_place,
    of_profile,
    of_summaries,
    without_superseded,
)
from keepsake.recall.documents import Document, DocumentKind, Hit
from keepsake.recall.related import SearchResult
from tests.mind.reply_scenes import NOON, PROFILE, did, heard, said_to_her, talk

_MARKS = re.compile(r"\(memor|\bmemor(?:y|ies) \d|^\s*[-*#>]|^\d+[.)]\s|<\||\[INST|~\w+>|\n", re.I)


def texts(found):
    return [each.text for each in found]


def summary(text, tier=Tier.RECENT):
    return Summary(tier, 1, 9, text, "extractive", NOON)


def hit(text, *, number=7, speaker="Tom", kind=DocumentKind.MEMORY, title=""):
    key = f"{kind}:{number}"
    document = Document(key, kind, text, NOON, number, number, speaker, "The Kettle", title)
    return Hit(document, 1.0, ("words: bees",))


class TestProfiles:
    def test_its_sentences_are_the_agents_own(self):
        found = of_profile(PROFILE)
        own = [each.text for each in found if each.origin is SentenceOrigin.SELF]
        assert own[0].startswith("I am Mira Fenn, forty-four, keeper of the Kettle")
        assert own[-1] == "My mother's blue cup is gone from its hook and I want it back."
        ties = [each.text for each in found if each.origin is SentenceOrigin.TIE]
        assert ties == ["Oswin alone knows that I taste nothing."]

    @pytest.mark.parametrize(
        ("profile", "own"),
        [
            ("", ()),
            ("---\n***\n", ()),
            ("You are Ann.", ("I am Ann.",)),
            ("# Ann\n\n* a smith\n* 40 years old", ("Ann.", "a smith.", "40 years old.")),
            ("1. You are Ann.\n2) You lie.", ("I am Ann.", "I lie.")),
        ],
    )
    def test_whatever_style_it_is_written_in(self, profile, own):
        assert tuple(texts(of_profile(profile))) == own

    @pytest.mark.parametrize(
        ("words", "kept"),
        [
            ("Hello, I am Ada, a weaver from Orle.", "I am Ada, a weaver from Orle."),
            ("good evening Mira - my boat is gone", "My boat is gone"),
            ("Hi there, I mend nets.", "I mend nets."),
            ("Evening meals are at six here.", "Evening meals are at six here."),
            ("Hello", ""),
        ],
    )
    def test_a_greeting_is_no_part_of_what_was_told(self, words, kept):
        told = of_memory(said_to_her(words, 1), "Tom")
        assert [each.bare for each in told] == [kept][: bool(kept)]

    def test_a_place_is_described_in_sentences(self):
        found = of_place("A low room. It smells of rosemary.\nThe way out: north.", ())[:-1]
        assert texts(found) == ["A low room.", "It smells of rosemary.", "The way out: north."]
        assert {each.origin for each in found} == {SentenceOrigin.PLACE}
        (ways, _) = of_place("", (), "The Mill", ["out", "north"])
        assert ways.text == "The ways out of The Mill: out and north."
        assert ways.origin == SentenceOrigin.WAYS

    def test_who_is_there_and_whom_it_knows_can_be_said(self):
        assert texts(of_place("", ["Tom", "Nell"])) == ["Tom and Nell are here with me."]
        assert texts(of_place("", [])) == ["Nobody is here but you and me."]
        profile = "You are Mira.\nOthers you know. Joss: he pays. Bram: he brings apples."
        assert (
            texts(of_profile(profile))[-1] == "The people I know who live here are Joss and Bram."
        )
        assert (
            of_profile(profile)[-1].to_agent
            == "The people you know who live here are Joss and Bram."
        )


class TestWhatOthersSaid:
    def test_a_name_alone_tells_nothing(self):
        assert of_memory(said_to_her("I'm Tom.", 7), "Tom") == []
        (wish,) = of_memory(said_to_her("Wake me at six tomorrow, would you?", 7), "Tom")
        assert (wish.bare, wish.aside) == ("Wake me at six tomorrow.", False), "it asks for no word"
        assert of_memory(said_to_her("I'm Tom, I keep bees.", 7), "Tom")

    def test_it_is_quoted_with_their_name(self):
        (found,) = of_memory(said_to_her("I keep bees up on the hill.", 7), "Tom")
        assert found.text == 'Tom told me, "I keep bees up on the hill."'
        assert found.bare == "I keep bees up on the hill."
        assert (found.who, found.origin, found.number) == ("Tom", SentenceOrigin.PARTNER, 7)

    @pytest.mark.parametrize(
        ("line", "text"),
        [
            ('Ann says to you, "I sell nets."', 'Ann told me, "I sell nets."'),
            ('Ann says, "I sell nets."', 'Ann said, "I sell nets."'),
            ('Ann says to Tom, "I sell nets."', 'Ann told Tom, "I sell nets."'),
            ('Ann whispers to you, "I sell nets."', 'Ann told me, "I sell nets."'),
            ('Ann shouts, "I sell nets."', 'Ann said, "I sell nets."'),
        ],
    )
    def test_to_whom_it_was_said_shows(self, line, text):
        (found,) = of_memory(heard(line, source="Ann"), "Tom")
        assert found.text == text
        assert found.origin is SentenceOrigin.OTHER
        assert found.overheard is ("told Tom" in text)

    @pytest.mark.parametrize(
        "words",
        [
            "Where do you keep your bees?",
            "And you",
            "Good evening, Mira!",
            "Hello!",
            "Thank you very much, Mira!",
            "Yes.",
            "…",
            "Who are you? And what is that?",
            "'Is it so?'",
            "Tell me a joke.",
            "who do i go to if you wont stamp this",
            "and what's the price of it",
            "if you wanna hear us play where do you have to go",
            "Could you tell me where the pump is?",
            "You're from Scarra, aren't you?",
            "Would you like some tea?",
            "hey can u make a guitar pick out of glass lol",
            "The ferry goes at noon, right?",
            "My room is number six, is it?",
            "Should we take the north road, eh?",
            "Would you trust my brother?",
            "Can you remind me what I said?",
        ],
    )
    def test_questions_and_greetings_are_no_facts(self, words):
        assert of_memory(said_to_her(words), "Tom") == []

    def test_a_greeting_or_question_beside_a_fact_is_left_out(self):
        said = "Good evening, Mira! I keep bees on the hill. Do you like honey?"
        found = of_memory(said_to_her(said), "Tom")
        assert texts(found) == ['Tom told me, "I keep bees on the hill."']
        assert found[0].aside
        (told,) = of_memory(said_to_her("I keep bees on the hill."), "Tom")
        assert not told.aside

    @pytest.mark.parametrize(
        "words",
        [
            "What I sell is honey.",
            "What's more, I cannot eat eggs",
            "What's left of my farm is one barn.",
            "Which is why I never go near the harbour.",
            "Where was once a chapel, I built my forge.",
        ],
    )
    def test_a_statement_that_begins_as_a_question_might_is_a_fact(self, words):
        assert [each.bare for each in of_memory(said_to_her(words), "Tom")] == [words]

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            ("I can't on Sunday. Make it Wednesday.", ["I can't on Sunday. Make it Wednesday."]),
            ("Good evening. My cat is ill. Poor thing.", ["My cat is ill. Poor thing."]),
            ("My cat is ill. Is yours? Poor thing.", ["My cat is ill."]),
        ],
    )
    def test_a_word_or_two_belong_to_what_was_told_before_them(self, words, told):
        found = of_memory(said_to_her(words), "Tom")
        assert [each.bare for each in found] == told

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (
                "They've moved me down to casualty, did I say? Drunks and broken wrists.",
                "They've moved me down to casualty. Drunks and broken wrists.",
            ),
            (
                "My brother's a fool, isn't he? He sold the cow.",
                "My brother's a fool. He sold the cow.",
            ),
            ("Would you shake me at quarter past four?", "Shake me at quarter past four."),
            ("Did you know, my uncle built this inn.", "Did you know, my uncle built this inn."),
            ("What can I say, I married a piper.", "What can I say, I married a piper."),
            ("Mira, could you please keep the green one, please?", "Mira, keep the green one."),
        ],
    )
    def test_what_only_looks_like_a_question_is_told(self, words, told):
        (found,) = of_memory(said_to_her(words), "Tom")
        assert found.bare == told
        assert not found.aside

    def test_a_name_beside_a_fact_is_left_out(self):
        said = "My name is Tom and I'm a sailmaker."
        found = of_memory(said_to_her(said), "Tom")
        assert texts(found) == ['Tom told me, "I\'m a sailmaker."']
        found = of_memory(said_to_her("And I'm Tom, I juggle for a living."), "Tom")
        assert texts(found) == ['Tom told me, "I juggle for a living."']
        heir = "I'm Tom, my father's only heir."
        assert texts(of_memory(said_to_her(heir), "Tom")) == [f'Tom told me, "{heir}"']
        (other,) = of_memory(said_to_her("My name is Ned and I'm a spy."), "Tom")
        assert "Ned" in other.text

    def test_whom_a_greeting_is_for_is_left_out_with_it(self):
        for hello in ("Morning, Mira.", "Morning, Mira!", "Good day to you, Mira."):
            said = f"{hello} My boat leaks."
            assert [each.bare for each in of_memory(said_to_her(said), "Tom")] == ["My boat leaks."]

    def test_what_it_did_itself_is_none(self):
        window = talk("I keep bees.", "I am a piper from Ostrey.", "A piper, are you?")
        assert texts(WindowReader().read(window, "Tom")) == ['Tom told me, "I keep bees."']
        assert of_memory(did("say I keep bees."), "Tom") == []

    def test_a_window_that_slides_is_read_as_if_it_were_new(self):
        told = [said_to_her(f"I keep {n} bees.", n) for n in range(1, 5)]
        reader = WindowReader()
        changed = replace(told[2], text=told[2].text.replace("bees", "geese"))
        for window, partner in (
            (told[:3], "Tom"),
            (told[:3], "Ann"),
            (told[1:], "Tom"),
            ([told[1], changed, told[3]], "Tom"),
            (told[:2], "Ann"),
        ):
            assert reader.read(window, partner) == WindowReader().read(window, partner)
        assert not any("geese" in each.text for each in reader.read(told, "Tom"))

    def test_gifts_and_gestures_are_facts_of_their_own(self):
        window = [
            heard("Tom gives you a silver whistle.", 1, event="give"),
            heard("Ann waves to you.", 2, source="Ann", event="pose"),
            heard("The rain stops.", 3, source="", event=""),
            heard("Tom leaves for The Quay.", 4, event="leave"),
        ]
        assert texts(WindowReader().read(window, "Tom")) == [
            "Tom gives me a silver whistle.",
            "Ann poses: waves to me.",
        ]

    def test_recall_brings_others_words_and_notes_and_no_own_speech(self):
        found = SearchResult(
            notes=(hit("He likes leek soup", kind=DocumentKind.NOTE, title="Tom", number=0),),
            summaries=(hit("All that happened", kind=DocumentKind.SUMMARY, number=1),),
            memories=(
                hit('Tom says to you, "I keep bees."'),
                hit("say I keep bees too.", number=8, speaker="Mira"),
            ),
        )
        assert texts(of_found(found, "Tom", "Mira")) == [
            'Tom told me, "I keep bees."',
            "Tom: He likes leek soup.",
        ]
        assert of_found(None, "Tom", "Mira") == []


class TestMarks:
    @pytest.mark.parametrize(
        ("line", "plain"),
        [
            ("- Ann owes me seven crowns (memory 3)", "Ann owes me seven crowns."),
            ("* 4 May: Ann told me (memories 3, 9–12), she left.", "4 May: Ann told me, she left."),
            ("3. Never open the cellar door. (memory 48).", "Never open the cellar door."),
            ("## > Rules: be kind", "Rules: be kind."),
            ("(memory 48). (memory 50). (memory 54).", None),
            ("1.", None),
            ("---", None),
        ],
    )
    def test_what_a_small_model_would_repeat_is_taken_out(self, line, plain):
        context = MemoryContext(summary(line, Tier.LONGTERM), None, ())
        assert texts(of_summaries(context, "Tom"))[:1] == ([plain] if plain else [])
        assert not any(_MARKS.search(text) for text in texts(of_summaries(context, "Tom")))
        assert not any(_MARKS.search(text) for text in texts(of_kept([line], "Tom")))

    @pytest.mark.parametrize(
        "line",
        [
            '[4 May, importance 7] Tom told me: "I keep bees." (memory 12)',
            '- 4 May: Tom told me, "I keep bees."',
            'Tom said to me, "I keep bees. Do you?"',
        ],
    )
    def test_what_was_said_is_one_sentence_wherever_it_is_kept(self, line):
        context = MemoryContext(None, summary(line), ())
        said = of_memory(heard('Tom says to you, "I keep bees."'), "Tom")
        for found in (of_kept([line], "Tom"), of_summaries(context, "Tom")):
            assert [(s.text, s.origin) for s in found] == [(s.text, s.origin) for s in said]

    def test_a_dated_line_has_its_day_the_last_one_before_now(self):
        now = datetime(2026, 3, 1, 12, tzinfo=UTC)
        for line, day in (
            ('[4 Feb, importance 7] Tom told me: "I keep bees."', datetime(2026, 2, 4, tzinfo=UTC)),
            ('- 4 May: Tom told me, "I keep bees."', datetime(2025, 5, 4, tzinfo=UTC)),
            ('- 29 Feb: Tom told me, "I keep bees."', datetime.min.replace(tzinfo=UTC)),
            ('Tom told me, "I keep bees."', datetime.min.replace(tzinfo=UTC)),
        ):
            assert [each.time for each in of_kept([line], "Tom", now)] == [day]

    def test_its_own_promise_stands_in_its_own_words(self):
        (kept,) = of_kept(["You promised Tom: I'll tell you tomorrow (memory 3)"], "Tom")
        assert kept.text == 'I promised Tom, "I\'ll tell you tomorrow"'

    def test_what_the_agent_said_itself_is_no_material(self):
        lines = ['4 May: I said, "I am a piper."', 'I asked Tom, "Who keeps bees?"']
        context = MemoryContext(None, summary("\n".join(lines)), ())
        assert not of_summaries(context, "Tom")
        assert not of_kept(lines, "Tom")

    @given(
        st.lists(
            st.sampled_from(
                [
                    *("(memory 3)", "(memories 3, 4)", "- ", "# ", "1. ", "\n", "<|im_end|>"),
                    *("~Mira>", "[INST]", "I keep bees", ". ", "? ", '"', "Mira: ", "> ", "\u2028"),
                ]
            ),
            max_size=12,
        ).map("".join)
    )
    def test_whatever_is_said_or_summarised(self, text):
        found = [
            *of_profile(text),
            *of_place(text, ()),
            *of_memory(said_to_her(text), "Tom"),
            *of_memory(heard(f"Tom {text}", event="pose"), "Tom"),
            *of_summaries(MemoryContext(summary(text, Tier.LONGTERM), summary(text), ()), "Tom"),
            *of_kept([text], "Tom"),
            *of_found(
                SearchResult(notes=(hit(text, kind=DocumentKind.NOTE, title="T"),)), "Tom", "Mira"
            ),
        ]
        for each in found:
            assert each.text.strip()
            assert len(each.text) <= 2 * LONGEST
            assert not re.search(r"[\n\r\u2028]|<\||~Mira>|\[INST\]", each.text)
            if (
                each.origin is not SentenceOrigin.PARTNER
            ):  # what a person said stands as they said it
                assert not _MARKS.search(each.text), each


class TestSuperseded:
    def profile(self, *facts):
        return Profile("tom", ProfileKind.PERSON, (Name("Tom", NOON),), NOON, NOON, facts=facts)

    def test_what_was_told_otherwise_since_is_left_out(self):
        before = Fact("home", "Ostrey", NOON, until=NOON, numbers=(1,), told_by="Tom")
        now = Fact("home", "Skerrin", NOON, numbers=(3,), told_by="Tom")
        window = [
            said_to_her("I live in Ostrey.", 1),
            said_to_her("I have a boat in Ostrey harbour.", 2),
            said_to_her("I live on Skerrin now.", 3),
        ]
        found = WindowReader().read(window, "Tom")
        kept = without_superseded(found, [self.profile(before, now)])
        assert [each.number for each in kept] == [2, 3]
        assert without_superseded(found, []) == found
        assert without_superseded(found, [self.profile()]) == found

    def test_what_else_was_said_with_it_stays(self):
        before = Fact("home", "Ostrey", NOON, until=NOON, numbers=(1,))
        said = said_to_her("Good day! I live in Ostrey. My sister keeps bees on the hill.", 1)
        kept = without_superseded(WindowReader().read([said], "Tom"), [self.profile(before)])
        assert texts(kept) == ['Tom told me, "My sister keeps bees on the hill."']


def test_what_stands_in_the_prompt_leads_back_to_its_memories():
    note = hit("He likes leek soup", kind=DocumentKind.NOTE, title="Tom", number=0)
    other = hit("It burned", kind=DocumentKind.NOTE, title="Mill", number=0)
    bees, nets = hit('Tom says to you, "I keep bees."'), hit('Tom says, "I sell nets."', number=8)
    found = SearchResult(notes=(note, other), memories=(bees, nets))
    chosen = [
        s for s in of_found(found, "Tom", "Mira") if "net" not in s.bare and "Mill" not in s.bare
    ]
    assert numbers_of(chosen) == (7,)
    assert hits_of(found, chosen) == (bees, note)
    assert hits_of(None, chosen) == ()


def test_a_long_telling_is_cut_at_its_sentences():
    said = " ".join(f"I have told you of the {word} in the cellar." for word in words(PROFILE)[:40])
    found = of_memory(said_to_her(said), "Tom")
    assert len(found) > 3
    assert all(len(each.bare) <= LONGEST for each in found)
