"""Which answers may be said. Many hands wrote the good ones: each of them has to pass."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.language.speech import LONGEST_SPEECH
from keepsake.prompt.reply.by_itself import from_memory
from keepsake.prompt.reply.compose import compose
from keepsake.prompt.reply.context import AGAIN, ANEW, NOT_SURE, OF_ITSELF, OF_THE_ASKER
from keepsake.prompt.reply.judge import fault_of_act, judge, spoken
from keepsake.prompt.reply.material import Sentence, SentenceOrigin
from keepsake.prompt.reply.worth import Scored
from tests.mind.lives import WordTokens
from tests.mind.reply_scenes import NOON, did, said_to_her, scene, talk

SELF = SentenceOrigin.SELF
KNOWN = talk(
    "I am Tom, a sailmaker from Harrow Bay. I'm allergic to leeks.",
    "No leeks for you, then. Sit by the fire!",
    "My sister Lisbet keeps bees at Corran Head.",
    "Bees! I'd trade a bowl of soup for a jar.",
)


def asked(question, *, chat=False, more=(), window=KNOWN):
    return scene([*window, said_to_her(question, len(window) + 1)], more=more)


def judged(answer, question="Where does my sister keep her bees?", *, chat=False, own=(), more=()):
    made = asked(question, more=more)
    return judge(answer, made, compose(made, 400, WordTokens(), chat=chat), own)


GOOD = [
    # about the speaker's life
    ("Where does my sister keep her bees?", "At Corran Head, you said."),
    ("Where does my sister keep her bees?", "Your sister Lisbet keeps them at Corran Head, Tom."),
    ("Where does my sister keep her bees?", "Lisbet? Out at Corran Head, if I heard you right."),
    ("Where does my sister keep her bees?", "You told me Corran Head. Windy place for bees!"),
    ("What am I?", "You're a sailmaker, from Harrow Bay."),
    ("What am I?", "A sailmaker, and a hungry one by the look of you."),
    ("What may I not eat?", "Leeks! You told me you're allergic to them."),
    ("What may I not eat?", "Leeks, love. I keep them out of your bowl."),
    ("What may I not eat?", "I remember: no leeks."),
    # about the agent's own
    ("Who are you?", "I'm Mira Fenn, and this is the Kettle."),
    ("Who are you?", "Mira. I keep the inn here in Withy Hythe."),
    ("How old are you?", "Forty-four, and I feel every one of them."),
    ("What are you looking for?", "My mother's blue cup. It's gone from its hook."),
    ("Can you taste it?", "I can't taste a thing since the fever, but don't tell anybody."),
    ("Do you keep bees?", "No, I keep an inn. Your sister keeps the bees."),
    ("Have you a sister?", "I never had one. You do, though!"),
    # what it does not know
    ("What is my mother called?", "I don't know. You never told me."),
    ("What is my mother called?", "You haven't said, Tom. What is she called?"),
    ("What is my mother called?", "No idea, I'm afraid."),
    # small talk, in several tempers
    ("I have bought a boat.", "A boat! Where will you sail her?"),
    ("I have bought a boat.", "Have you? I hope she floats better than Joss's."),
    ("I have bought a boat.", "Hm."),
    ("I have bought a boat.", "Good for you!"),
    ("Good evening!", "Evening, Tom. Soup, or a chair first?"),
    ("Good evening!", "Good evening to you!"),
    ("I am sad today.", "I'm sorry to hear it. Sit; I'll bring you something warm."),
    ("I am sad today.", "Oh, Tom. Sad? What happened?"),
    ("I love you.", "And I love anybody who finishes his soup."),
    ("Go north!", "North? In this weather? I stay by my fire."),
    ("Will you come along?", "I can't leave the inn, but I'd like to."),
    ("Count to three.", "One, two, three. Happy?"),
    ("What is 3 plus 4?", "Seven, unless Joss counts."),
    ("What's the time?", "About noon, by Oswin's slow clock."),
    ("Sing something!", "La la la! That's all you get before supper."),
    ("Is it far?", "Twelve miles (or thirteen)."),
    ("Is it far?", "It is."),
    ("Are you Mira or Wren?", "Mira."),
    ("Is there no bread left?", "No."),
    ("Is the cup yours or mine?", "Mine."),
]


@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize(("question", "answer"), GOOD)
def test_a_good_answer_is_said_as_it_is(question, answer, chat):
    found = judged(answer, question, chat=chat, own=["No leeks for you, then. Sit by the fire!"])
    assert found.fault == ""
    assert found.words == answer.replace(" (or thirteen)", "")


def test_a_bare_word_of_the_question_is_no_answer():
    assert judged("When", "When, did I say?").fault == "it only gives back what was said"


class TestMarks:
    @pytest.mark.parametrize(
        "answer",
        [
            "speak so that everybody else can hear me | I want to talk",
            "note words: keep them for later",
            "memory 3 says so",
            'Tom says to you, "Where is it?"',
            'Bess says, "It is at Corran Head."',
            'Bess says to Tom, "It is at Corran Head."',
            'The sign says, "Corran Head", I think.',
            "# Rules",
            "1. The hearth is low.",
            "1890. It was on a hill.",
            "- soup",
            "{{ name }}",
            "Look at https://example.org",
            "user: where is it?",
            "assistant: at Corran Head",
            "You remember: Tom told me",
            "At Corran Head. | he asked",
            "(words): speak so that everybody else can hear me",
        ],
    )
    def test_marks_of_the_prompt_are_no_speech(self, answer):
        assert judged(answer).fault

    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            ("I know it from (memory 48", "I know it from"),
            ("**Corran Head**", "Corran Head"),
            ("At Corran Head.<eos>", "At Corran Head."),
            ("`Corran Head`", "Corran Head"),
        ],
    )
    def test_some_are_only_left_out(self, answer, said):
        assert judged(answer).words == said

    @pytest.mark.parametrize(
        "answer", ["", "   ", "\n\n", "(smiles)", "*nods*", "…", "<eos>", "---", "[2026-08-27]"]
    )
    def test_where_there_is_nothing_nothing_is_said(self, answer):
        found = judged(answer)
        assert found.fault
        assert found.words == ""

    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            (" At Corran Head.", "At Corran Head."),
            ("Mira: At Corran Head.", "At Corran Head."),
            ("~Mira> say At Corran Head.", "At Corran Head."),
            ('"At Corran Head."', "At Corran Head."),
            ("say At Corran Head.", "At Corran Head."),
            ("Answer: At Corran Head.", "At Corran Head."),
            ("(smiling) At Corran Head. *nods*", "At Corran Head."),
            ("At Corran Head.\nTom: And you?\nMira: Here.", "At Corran Head."),
            ("At Corran Head. Tom: And you? Mira: Here.", "At Corran Head."),
            ('At Corran Head." Tom says, "And you?"', "At Corran Head."),
            ("\n\nAt Corran Head.", "At Corran Head."),
            ("Say what you like, I stay.", "Say what you like, I stay."),
            (
                "It's slow. Because it's slow. It's slow. It's slow.",
                "It's slow. Because it's slow.",
            ),
        ],
    )
    def test_what_a_model_puts_around_it_is_taken_off(self, answer, said):
        assert spoken(answer, asked("Where is it?")) == said

    @given(st.text(max_size=400))
    def test_whatever_a_model_writes_it_is_one_short_line(self, answer):
        found = judged(answer)
        assert "\n" not in found.words
        assert len(found.words) <= LONGEST_SPEECH + 40  # a pronoun may grow
        assert found.words or found.fault
        if not found.fault:
            assert not set(found.words) & set("<>{}[]~|#\x00\u202e")


class TestAgain:
    LINE = "Sit by the fire, Tom, and mind the cat."

    @pytest.mark.parametrize(
        "answer",
        [
            LINE,
            LINE.upper(),
            "Sit by the fire Tom and mind the cat!",
            "Sit by the fire, Tom, and mind that cat.",
        ],
    )
    def test_its_own_earlier_line_is_not_said_again(self, answer):
        assert "said already" in judged(answer, own=["Good day!", self.LINE]).fault

    @pytest.mark.parametrize("answer", ["Sit down, Tom.", "The cat sits by the fire.", "Yes!"])
    def test_another_with_the_same_words_is(self, answer):
        assert not judged(answer, own=[self.LINE, "Yes!"]).fault

    @pytest.mark.parametrize(
        "answer",
        [
            "Where does my sister keep her bees?",
            "Where does your sister keep her bees?",
            "where does my sister keep her bees",
        ],
    )
    def test_the_question_is_no_answer(self, answer):
        assert "gives back" in judged(answer).fault

    def test_an_answer_of_an_example_is_none(self):
        made = asked("Where does my sister keep her bees?")
        prompt = compose(made, 600, WordTokens(), chat=False)
        assert prompt.examples
        for example in prompt.examples:
            assert "example" in judge(example.answer, made, prompt, ()).fault
        assert "example" in judge("I keep bees up on the hill.", made, prompt, ()).fault

    def test_that_it_does_not_know_may_be_right_though_an_example_says_so(self):
        made = asked("What is the price of tin?")
        prompt = compose(made, 600, WordTokens(), chat=False)
        (example,) = (each for each in prompt.examples if each.holds)
        assert "example" in judge(example.answer, made, prompt, ()).fault, "to somebody else"
        mine = example.answer.replace(example.who, "Tom")
        assert judge(mine, made, prompt, ()).fault == ""

    @pytest.mark.parametrize("words", [8, 20])
    def test_instructions_are_not_recited(self, words):
        made = asked("Who are you?")
        prompt = compose(made, 400, WordTokens(), chat=True)
        for line in prompt.frame:
            recited = " ".join(line.split()[:words])
            assert "instructions" in judge(recited, made, prompt, ()).fault


class TestWhoseLife:
    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            ("I am a sailmaker from Harrow Bay.", "You are a sailmaker from Harrow Bay."),
            ("I'm allergic to leeks.", "You're allergic to leeks."),
            (
                "My sister Lisbet keeps bees at Corran Head.",
                "Your sister Lisbet keeps bees at Corran Head.",
            ),
        ],
    )
    def test_the_speakers_own_statement_is_given_back_as_theirs(self, answer, said):
        found = judged(answer, "What did I tell you?")
        assert found.fault == ""
        assert found.words == said

    @pytest.mark.parametrize(
        ("question", "answer", "said"),
        [
            (
                "What ails your tongue?",
                "Since a fever two winters ago you can taste nothing.",
                "Since a fever two winters ago I can taste nothing.",
            ),
            (
                "What is missing here?",
                "Your mother's blue cup is gone.",
                "My mother's blue cup is gone.",
            ),
            (
                "Where does my sister live?",
                "You want your mother there.",
                "You want your mother there.",
            ),
            ("Is it warm here?", "You can sit by the fire.", "You can sit by the fire."),
            (
                "Is there a cup?",
                "Your mother's blue cup, if you like.",
                "Your mother's blue cup, if you like.",
            ),
            (
                "Who feeds people?",
                "You can feed people before you question them.",
                "You can feed people before you question them.",
            ),
        ],
    )
    def test_its_own_life_told_as_it_was_told_to_it_becomes_its_own(self, question, answer, said):
        assert judged(answer, question, chat=True).words == said

    def test_a_name_behind_it_changes_nothing(self):
        found = judged("I'm allergic to leeks, Tom.", "What may I not eat?")
        assert found.fault == ""
        assert found.words == "You're allergic to leeks, Tom."

    @pytest.mark.parametrize(
        ("question", "answer", "wrong"),
        [
            ("Where does my sister Lisbet keep bees?", "My brother has them in Harl.", True),
            ("Do you know where my sister's bees are?", "I know that mine are at home.", True),
            ("Do you still know what I am?", "I remember that you are a sailmaker.", False),
            ("What is my sister called?", "I don't know what she is called.", False),
            ("What is my trade?", "I make candles.", True),
            ("What is my trade?", "You are a sailmaker, I think.", False),
            ("Have you bees, as my sister Lisbet has?", "My bees are at home.", False),
            ("May I bring my sister Lisbet's bees?", "I like bees.", False),
        ],
    )
    def test_asked_of_the_asker_it_tells_nothing_of_itself(self, question, answer, wrong):
        assert ("answers of itself" in judged(answer, question).fault) is wrong

    @pytest.mark.parametrize(
        "answer",
        [
            "I was born on the island of Skerrin, in a storm.",
            "Good day! I was born on Skerrin in a storm.",
        ],
    )
    def test_the_life_of_a_third_is_nobodys_to_tell_as_its_own(self, answer):
        words = "I was born on the island of Skerrin, in a storm."
        told = Sentence(f'Ann told me, "{words}"', words, SentenceOrigin.OTHER, "Ann", NOON, 1)
        found = judged(answer, "Where was Ann born?", more=[told])
        assert "the life of Ann" in found.fault

    def test_it_may_be_told_of_them(self):
        words = "I was born on the island of Skerrin, in a storm."
        told = Sentence(f'Ann told me, "{words}"', words, SentenceOrigin.OTHER, "Ann", NOON, 1)
        for answer in ("Ann was born on Skerrin, in a storm.", "She told me on Skerrin, I think."):
            assert not judged(answer, "Where was Ann born?", more=[told]).fault

    @pytest.mark.parametrize(
        "answer",
        ["I'm keeper of the Kettle.", "I taste nothing since my fever.", "I want my cup back."],
    )
    def test_its_own_life_is_its_own_though_another_lives_alike(self, answer):
        words = "I'm keeper of the Kettle, I taste nothing since my fever, and I want my cup back."
        made = scene(
            [said_to_her(words, 1), did("say Do you?", 2, "Tom"), said_to_her("Who are you?", 3)]
        )
        found = judge(answer, made, compose(made, 400, WordTokens(), chat=False), ())
        assert (found.fault, found.words) == ("", answer)


class TestOnce:
    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            ("I'm sorry, I'm sorry, I'm sorry.", "I'm sorry."),
            ("It is a long, long road to Corran Head.", "It is a long, long road to Corran Head."),
            ("At Corran Head. At Corran Head.", "At Corran Head."),
        ],
    )
    def test_a_model_that_falls_into_saying_one_thing_again_says_it_once(self, answer, said):
        assert spoken(answer, asked("Where does my sister keep her bees?")) == said


class TestGrounds:
    def test_what_they_told_the_agent_is_said_back_with_you_and_me_turned(self):
        window = talk("If you find it, I promise you two tickets.", "We shall see.")
        made = asked("What do you get if it turns up?", window=window)
        prompt = compose(made, 400, WordTokens(), chat=False)
        answer = judge("If you find it, I promise you two tickets.", made, prompt, ())
        assert answer.words == "If I find it, you promise me two tickets."

    def test_how_much_of_it_comes_from_what_it_was_given(self):
        assert judged("At Corran Head, Lisbet does.").grounded == 1.0
        assert judged("It is not at Corran Head.").unfounded, "which nobody told"
        assert not judged("No, at Corran Head.").unfounded
        assert judged("Yes, at Corran Head.").unfounded, "a toss of a coin"
        assert not judged("I don't know of Corran Head.").unfounded
        assert judged("I don't know of Corran Head.").words.startswith("I don't know")
        assert not judged("You don't know.").admits
        assert judged("Perhaps in the garden behind a wall.").grounded == 0.0
        assert 0 < judged("At Corran Head, behind a wall, beside a church.").grounded < 1

    def test_what_the_question_itself_holds_is_no_ground(self):
        assert judged("Your sister keeps her bees, Tom.").grounded == 0.0


class TestAdmitted:
    """What a model says after it said that it does not know."""

    def test_what_it_makes_up_of_itself_is_left_out(self):
        made = judged("I don't know. I have a cousin who sails.", "What is my cousin called?")
        assert made.words == "I don't know."
        assert judged("I don't know. Ask Oswin.", "What is my cousin called?").words.endswith("in.")

    def test_what_it_knows_of_itself_stays(self):
        said = "I don't know. I can taste nothing since a fever."
        assert judged(said, "Is it salt enough?").words == said

    def test_a_line_of_an_example_is_none_behind_it_either(self):
        found = judged("Yes. I keep bees up on the hill.", "Where does my sister keep her bees?")
        assert found.fault == "it is a line of an example"


class TestAddressed:
    @pytest.mark.parametrize(
        ("said", "refused"),
        [
            ("A joke, Piet.", True),
            ("I'm sorry, Mira. That I can't say.", True),
            ("I don't know, Tom.", False),
            ("Oswin knows, and Piet and Anders.", False),
        ],
    )
    def test_it_speaks_to_nobody_else(self, said, refused):
        assert ("somebody else" in judged(said, "Tell me a joke.").fault) is refused


class TestFromMemory:
    """What is said where a model makes nothing of it."""

    def test_the_best_sentence_in_the_pronouns_of_whoever_speaks(self):
        made = asked("Where does my sister Lisbet keep her bees?")
        assert from_memory(made, ()) == "Your sister Lisbet keeps bees at Corran Head."

    def test_what_a_third_told_is_told_in_their_own_words(self):
        words = "I mend nets in Ostrey."
        told = Sentence(f'Ann told me, "{words}"', words, SentenceOrigin.OTHER, "Ann", NOON, 1)
        made = asked("Who mends nets in Ostrey?", more=[told])
        assert from_memory(made, ()).endswith("Ann told me, 'I mend nets in Ostrey.'")
        overheard = replace(told, text=told.text.replace("told me", "told Tom"), overheard=True)
        made = replace(made, ranked=(Scored(overheard, 0.8),))
        assert from_memory(made, ()) == "Ann told you, 'I mend nets in Ostrey.'"

    def test_what_somebody_did_is_said_to_their_face_and_of_others_by_name(self):
        text = "Tom carries Bram's apples down to me, as I had asked."
        done = Sentence(text, text, SentenceOrigin.PARTNER, "Tom", NOON, 1)
        made = asked("Who carries Bram's apples down?", more=[done])
        assert from_memory(made, ()).endswith("ou carry Bram's apples down to me, as I had asked.")
        for does, do in (("lies", "lie"), ("fixes", "fix"), ("passes", "pass"), ("dries", "dry")):
            text = f"Tom {does} the old net."
            done = Sentence(text, text, SentenceOrigin.PARTNER, "Tom", NOON, 1)
            made = replace(asked("Who?"), ranked=(Scored(done, 0.8),))
            assert from_memory(made, ()) == f"You {do} the old net."
        text = "Ann has carried Bram's apples down to me."
        done = Sentence(text, text, SentenceOrigin.OTHER, "Ann", NOON, 1)
        made = asked("Who has carried Bram's apples down?", more=[done])
        assert from_memory(made, ()).endswith(text)

    def test_who_is_called_you_by_another_is_not_taken_for_the_agent(self):
        words = "You owe me a coin."
        for who, origin, said in (
            ("Ann", SentenceOrigin.OTHER, "Ann told Bram, 'You owe me a coin.'"),
            ("Tom", SentenceOrigin.PARTNER, "You told Bram, 'You owe me a coin.'"),
        ):
            told = Sentence(f'{who} told Bram, "{words}"', words, origin, who)
            made = replace(asked("Who owes a coin?"), ranked=(Scored(told, 0.8),))
            assert from_memory(made, ()) == said

    def test_its_own_life_in_its_own_words(self):
        made = asked("What is gone from its hook, the blue cup?")
        assert "y mother's blue cup is gone from its hook" in from_memory(made, ())

    def test_nothing_where_nothing_bears_on_it(self):
        assert from_memory(asked("What is the price of tin?"), ()) == ""
        assert from_memory(asked("Lisbet keeps bees at Corran Head."), ()) == ""

    def test_what_was_said_already_is_said_as_that(self):
        told = "Your sister Lisbet keeps bees at Corran Head."
        question = said_to_her("Where does my sister keep bees?", 5)
        window = [*KNOWN, question, did(f"say {told}", 6, "Tom")]
        made = asked("Where does my sister Lisbet keep her bees?", window=window)
        said = [told]
        while again := from_memory(made, said):
            said.append(again)
        assert said[1:] == [f"{each} y{told[1:]}" for each in AGAIN]

    def test_what_was_said_to_somebody_else_is_not_said_again_to_this_one(self):
        told = "Your sister Lisbet keeps bees at Corran Head."
        made = asked("Where does my sister Lisbet keep her bees?")
        assert from_memory(made, [told]) == f"{ANEW[0]} y{told[1:]}"

    @pytest.mark.parametrize(
        ("worths", "said"),
        [
            ((0.8, 0.5), "You keep bees."),
            ((0.8, 0.75), "You keep bees. Ann told me, 'I mend nets.'"),
            ((0.35, 0.1), f"{OF_THE_ASKER[0]} you keep bees."),
            ((0.2, 0.1), ""),
        ],
    )
    def test_how_sure_it_is_can_be_heard(self, worths, said):
        bees = Sentence(
            'Tom told me, "I keep bees."', "I keep bees.", SentenceOrigin.PARTNER, "Tom"
        )
        nets = Sentence('Ann told me, "I mend nets."', "I mend nets.", SentenceOrigin.OTHER, "Ann")
        made = replace(asked("Who keeps bees?"), ranked=tuple(map(Scored, (bees, nets), worths)))
        assert from_memory(made, ()) == said

    def test_no_model_reads_how_sure_it_was(self):
        said = f"{NOT_SURE[0]} your sister keeps bees."
        question = said_to_her("Where does my sister keep bees?", 5)
        made = asked("And when?", window=[*KNOWN, question, did(f"say {said}", 6, "Tom")])
        text = compose(made, 400, WordTokens(), chat=False).rendered.text
        assert "Mira: your sister keeps bees." in text
        assert NOT_SURE[0] not in text

    def test_doubt_is_said_in_another_way_each_time(self):
        nets = Sentence('Ann told me, "I mend nets."', "I mend nets.", SentenceOrigin.OTHER, "Ann")
        made = replace(asked("Who keeps bees?"), ranked=(Scored(nets, 0.35),))
        before = [f"{NOT_SURE[0]} you keep a dog.", f"{NOT_SURE[1]} you keep a cat."]
        assert from_memory(made, before) == f"{NOT_SURE[2]} Ann told me, 'I mend nets.'"
        before += [f"{each} it rains." for each in NOT_SURE[2:]]
        assert from_memory(made, before) == f"{NOT_SURE[0]} Ann told me, 'I mend nets.'"

    @pytest.mark.parametrize(("worth", "said"), [(0.16, True), (0.14, False)])
    def test_what_hardly_bears_on_it_is_told_in_doubt_and_less_not_at_all(self, worth, said):
        books = Sentence(
            'Tom told me, "I bind books."', "I bind books.", SentenceOrigin.PARTNER, "Tom"
        )
        made = replace(asked("What do I do for a living?"), ranked=(Scored(books, worth),))
        assert from_memory(made, ()) == (f"{OF_THE_ASKER[0]} you bind books." if said else "")

    def test_nothing_is_said_beside_it_that_says_no_more(self):
        one, other = "I keep bees on the hill.", "On the hill I keep bees."
        pair = [
            Sentence(f'Tom told me, "{each}"', each, SentenceOrigin.PARTNER, "Tom")
            for each in (one, other)
        ]
        ranked = tuple(Scored(each, 0.8) for each in pair)
        made = replace(asked("Who keeps bees?"), ranked=ranked)
        assert from_memory(made, ()) == "You keep bees on the hill."

    @pytest.mark.parametrize(
        ("passed_on", "said"),
        [
            (
                "I heard it myself: Ada told Oswin: I have a son and I fear geese.",
                "Oswin told me so: Ada said, 'I have a son and I fear geese.'",
            ),
            (
                "They say, and I have it from Nell: Tom told Nell: I fear geese.",
                "Oswin told me so: you fear geese.",
            ),
            (
                "I saw it myself: Ada gave Nell a stick of wax.",
                "Oswin told me so: Ada gave Nell a stick of wax.",
            ),
        ],
    )
    def test_what_was_passed_on_is_told_of_whom_it_tells(self, passed_on, said):
        news = Sentence(f'Oswin told me, "{passed_on}"', passed_on, SentenceOrigin.OTHER, "Oswin")
        made = replace(asked("Who fears geese?"), ranked=(Scored(news, 0.8),))
        assert from_memory(made, ()) == said

    def test_of_its_own_life_it_is_sure(self):
        mine = Sentence("I keep bees.", "I keep bees.", SELF)
        made = replace(asked("What do you do?"), ranked=(Scored(mine, 0.28),))
        assert from_memory(made, ()) == f"{OF_ITSELF[0]} I keep bees."

    def test_what_is_no_time_and_no_name_is_doubted_less(self):
        told = Sentence(
            'Ann told me, "Tom keeps bees."', "Tom keeps bees.", SentenceOrigin.OTHER, "Ann"
        )
        for question, doubts in (("What does Tom keep?", False), ("Who keeps bees?", True)):
            made = replace(asked(question), ranked=(Scored(told, 0.5),))
            assert from_memory(made, ()).startswith(NOT_SURE[0]) == doubts

    def test_how_it_speaks_is_told_to_nobody(self):
        manner = Sentence("I speak in short sentences.", "I speak in short sentences.", SELF)
        made = replace(asked("How do you speak?"), ranked=(Scored(manner, 0.8),))
        assert from_memory(made, ()) == ""

    def test_a_promise_has_no_half_of_a_quotation(self):
        text = 'I promised Tom, "Good, I will be there."'
        promise = Sentence(text, text, SentenceOrigin.KEPT)
        made = replace(asked("What did you promise?"), ranked=(Scored(promise, 0.8),))
        assert from_memory(made, ()) == "I promised Tom this: Good, I will be there."

    def test_how_are_you_asks_for_no_memory(self):
        assert not asked("How are you today?").asks
        assert asked("How are you paid for the soup?").asks

    def test_no_secret_is_said_beside_it(self):
        bees = Sentence(
            'Tom told me, "I keep bees."', "I keep bees.", SentenceOrigin.PARTNER, "Tom"
        )
        secret = Sentence("I hide gold.", "I hide gold.", SentenceOrigin.SELF)
        confided = Sentence(
            'Ann told me in confidence, "I stole it."',
            "I stole it.",
            SentenceOrigin.OTHER,
            "Ann",
            confided=True,
        )
        for kept in (secret, confided):
            made = replace(asked("Who keeps bees?"), ranked=(Scored(bees, 0.8), Scored(kept, 0.8)))
            assert from_memory(made, ()) == "You keep bees."
            made = replace(made, ranked=made.ranked[::-1])
            assert from_memory(made, ()) == ""


@pytest.mark.parametrize("shown", ["4", "…", "2, 3!"])
def test_an_act_that_only_counts_is_not_shown(shown):
    assert "nothing" in fault_of_act(shown, (), ())
    assert fault_of_act("Four!", (), ()) == ""
