"""How a model is asked for a summary, and what happens to its answer."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import frontmatter
import pytest
import yaml

from keepsake.archive.log import Archive
from keepsake.archive.privacy import redacted
from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.summaries import Tier
from keepsake.happening import ME, Deed, Manner, Person, Pose, Speech
from keepsake.language.tokens import estimate_tokens
from keepsake.memory.summary_text import SummarySource, count_words, numbered
from keepsake.memory.types import UNCHANGED
from keepsake.paths import REPOSITORY
from keepsake.ports import Generation
from keepsake.tasks.chatter import cleaned
from keepsake.tasks.summarise import Summarise
from keepsake.tasks.summarizer import ModelSummarizer
from keepsake.tasks.task import AnswerRefused
from keepsake.tasks.task_prompts import task_prompts
from tests.memories import old_memory
from tests.unit.mind.night_runner import Target

START = datetime(2026, 5, 4, 20, 0, tzinfo=UTC)
SHIPPED = REPOSITORY / "vault" / "config"
PROMPTS = task_prompts(SHIPPED, SHIPPED)
NAMES = frozenset({"Anneke", "Jonas", "Mira"})
DATA = yaml.safe_load((REPOSITORY / "tests" / "data" / "summaries.yaml").read_text("utf-8"))
GOOD = "Anneke told me that she goes to sea, and I gave Jonas his soup."


def says(number, who, words, hours=0):
    time = START + timedelta(hours=hours, minutes=number)
    text = f'{who} says to you, "{words}"'
    return old_memory(number, time, MemoryKind.PERCEPTION, text, source=who)


def act(number, text, **more):
    return old_memory(number, START + timedelta(minutes=number), MemoryKind.ACT, text, **more)


MEMORIES = (
    says(12, "Anneke", "I go to sea from Tollen."),
    act(13, "say Then go well.", to="Anneke"),
    act(14, "note sea: Anneke goes to sea"),
    act(15, "give soup to Jonas", reason="he is cold"),
    says(16, "Jonas", "Thank you for the soup.", hours=12),
)
SOURCE = SummarySource(Tier.RECENT, "Mira", MEMORIES)


@dataclass
class ScriptedModel:
    """Gives its answers in order and then repeats the last one; ``asked`` are the requests."""

    answers: list
    target: Target
    asked: list = field(default_factory=list)

    def __call__(self, build):
        self.asked.append(build(self.target))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return Generation(answer, "stop", 100, 0, 20, 0.5, "a-model")


def summarised_by(answers, source=SOURCE, **target):
    model = ScriptedModel(list(answers), Target(**target))
    draft = ModelSummarizer(model, PROMPTS, NAMES, "You are Mira, the innkeeper.")
    return draft(source), model.asked


def test_a_chat_model_gets_the_memories_numbered_and_dated():
    draft, (question,) = summarised_by([GOOD])
    assert (draft.text, draft.model, len(draft.answers), draft.refusals) == (GOOD, "a-model", 1, ())
    system, user = question.messages
    assert (system.role, user.role) == ("system", "user")
    assert system.text.startswith("You are Mira, the innkeeper.\n")
    assert "in the language in which the memories were lived" in system.text
    assert user.text.splitlines()[:4] == [
        '12. [4 May, evening] Anneke says to you, "I go to sea from Tollen."',
        '13. You say to Anneke, "Then go well."',
        "15. You did: give soup to Jonas (your reason: he is cold)",
        '16. [5 May, morning] Jonas says to you, "Thank you for the soup."',
    ]
    assert "could not be used" not in user.text
    assert question.prompt == ""


def test_the_prompt_says_which_names_the_check_looks_for():
    often = tuple(says(number, "Anneke", f"Jonas owes me {number} coppers.") for number in range(3))
    source = replace(SOURCE, memories=(*often, says(9, "Oswin", "It is late.")))
    model = ScriptedModel(["Somebody spoke of debts and coppers.", GOOD], Target())
    ModelSummarizer(model, PROMPTS, NAMES | {"Oswin"})(source)
    first, again = (each.messages[-1].text for each in model.asked)
    assert "It names Anneke, Jonas." in first
    assert "it leaves out Anneke, Jonas;" in again


def test_a_merge_says_which_names_the_check_looks_for():
    older = ("Anneke told me of the sea. " * 40, "Anneke came back, and Jonas ate. " * 40)
    source = SummarySource(Tier.LONGTERM, "Mira", (), older, limit_tokens=300)
    model = ScriptedModel([GOOD], Target())
    ModelSummarizer(model, PROMPTS, NAMES)(source)
    assert model.asked[0].messages[-1].text.endswith("It names Anneke, Jonas.")


def test_a_whisper_is_shown_without_empty_quotation_marks():
    tom = Person("Tom", "Tom-1")
    for speaker, to in ((ME, tom), (tom, ME)):
        manner = Manner.WHISPER
        speech = Speech(speaker=speaker, words="The key.", to=(to,), manner=manner, shown="…")
        memory = Memory(1, START, speech)
        (line,) = numbered([redacted(memory)])
        assert line.endswith("whisper to Tom." if speaker is ME else "Tom whispers to you.")


def test_a_private_gesture_or_deed_is_no_line_without_its_words():
    tom = "Tom-1"
    nods = Memory(1, START, Pose(actor=ME, gesture="nods", shown="emote nods"), witnesses=(tom,))
    assert numbered([redacted(nods), private_deed(2)]) == []
    assert len(numbered([nods])) == 1


def private_deed(number):
    plan = Deed(actor=ME, verb="plan", objects=("leave",), shown="plan leave")
    return redacted(Memory(number, START, plan, witnesses=("Tom-1",)))


def test_memories_without_a_line_cost_no_second_call():
    memories = (*MEMORIES[:2], private_deed(17), *MEMORIES[2:], private_deed(18))
    draft, asked = summarised_by([GOOD], replace(SOURCE, memories=memories))
    assert (len(asked), draft.text) == (1, GOOD)


def test_nothing_but_memories_without_a_line_needs_no_model():
    source = replace(SOURCE, memories=(private_deed(17), private_deed(18)))
    draft, asked = summarised_by([GOOD], source)
    assert (asked, draft.model) == ([], "extractive")


def test_after_two_refusals_the_summary_is_made_without_a_model():
    draft, asked = summarised_by(["..."])
    assert len(asked) == len(draft.answers) == len(draft.refusals) == 2
    assert draft.model == "extractive"
    assert 'Anneke told me: "I go to sea from Tollen."' in draft.text


def test_long_sources_are_summarised_in_pieces_with_the_summary_so_far():
    many = tuple(says(n, "Jonas", f"Plank {n} went with tide {n}.") for n in range(1, 120))
    answers = [f"Jonas has lost planks to {n} tides." for n in range(10)]
    draft, asked = summarised_by(answers, replace(SOURCE, memories=many), prompt_tokens=1000)
    assert 2 < len(asked) <= 6
    assert len(draft.answers) == len(asked)
    assert draft.text == answers[len(asked) - 1]
    shown = "\n".join(question.messages[1].text for question in asked)
    assert all(shown.count(f"Plank {n} went") == 1 for n in range(1, 120))
    for question, before in zip(asked[1:], answers, strict=False):
        assert before in question.messages[1].text
    for question in asked:
        assert sum(len(each.text) for each in question.messages) < 1000 * 5


def test_an_older_summary_longer_than_the_prompt_is_shortened():
    older_text = "\n".join(f"Jonas told me of plank {n}, lost to tide {n}." for n in range(400))
    for older, memories in (((older_text,), MEMORIES), ((older_text, GOOD), ())):
        source = replace(SOURCE, older=older, memories=memories)
        _, (question,) = summarised_by([GOOD], source, prompt_tokens=2000)
        assert sum(estimate_tokens(each.text) for each in question.messages) < 2000
        assert "plank 1" in question.messages[1].text


# -- one limit, which the prompt says and the check counts


YEARS = range(160)
ENGLISH = " ".join(f"Jonas lost plank {n} to the spring tide of year {n}." for n in YEARS)
GERMAN = " ".join(f"Jonas verlor Planke {n} an die Springflut des Jahres {n}." for n in YEARS)
JAPANESE = "".join(f"ヨナスは{n}年の大潮で{n}枚目の板を失った。" for n in YEARS)


@pytest.mark.parametrize("text", [ENGLISH, GERMAN, JAPANESE], ids=["en", "de", "ja"])
def test_as_many_words_as_a_prompt_allows_fit_and_a_few_more_are_accepted_if_they_fit(text):
    half = len(text) // 2
    source = SummarySource(Tier.LONGTERM, "Mira", older=(text[:half], text[half:]))
    task = Summarise(source, PROMPTS["merge"].current, "", frozenset())
    system = task.ask(Target(), "").messages[0].text
    most = int(re.search(r"Write (\d+) words at most", system)[1])
    letters = [*text] if text is JAPANESE else text.split()
    join = "" if text is JAPANESE else " "
    counts = [count_words(join.join(letters[:end])) for end in range(len(letters) + 1)]
    longest = join.join(letters[: len(counts) - 1 - counts[::-1].index(most)])
    assert count_words(longest) == most
    assert task.read(longest) == longest
    assert source.tokens(longest) <= source.most_tokens, "so it is not summarised again"
    more = f"{longest} 7"
    assert task.read(more) == more
    assert source.tokens(more) <= source.most_tokens
    with pytest.raises(AnswerRefused, match=f"words and may have {most}$"):
        task.read(join.join((longest, longest)))


def test_older_summaries_that_fit_together_are_not_merged_by_a_model():
    older = (GOOD, "Jonas sold his boat in May.")
    source = replace(SOURCE, tier=Tier.LONGTERM, memories=(), older=older)
    draft, asked = summarised_by(["Anneke went away."], source)
    assert (draft.text, draft.model, asked) == ("\n\n".join(older), UNCHANGED, [])
    draft, asked = summarised_by(["Anneke went away."], replace(source, limit_tokens=20))
    assert asked


def test_a_merge_leaves_room_for_the_next_short_term_summary():
    source = replace(SOURCE, tier=Tier.LONGTERM, memories=(), older=(ENGLISH, GOOD))
    most = int(count_words(ENGLISH) * source.most_tokens / source.tokens(ENGLISH))
    _, (question,) = summarised_by([GOOD], source, prompt_tokens=8000)
    words = int(re.search(r"Write (\d+) words at most", question.messages[0].text)[1])
    assert words <= most * 0.55
    merged = " ".join(ENGLISH.split()[:words])
    next_one = " ".join(ENGLISH.split()[: int(most * 0.4)])
    together = replace(source, older=(merged, next_one))
    draft, asked = summarised_by([GOOD], together)
    assert (draft.model, asked) == (UNCHANGED, [])


# -- which summaries are accepted, in five languages, and which are refused


def check_of(name: str) -> Summarise:
    transcript = DATA["lives"][name]
    memories = tuple(map(lived, transcript["lines"]))
    source = SummarySource(Tier.RECENT, transcript["agent"], memories)
    task = Summarise(source, PROMPTS["summarise"].current, "", frozenset(DATA["names"]))
    task._lines = transcript["lines"]
    task._show(len(task._lines))
    return task


def lived(line: str) -> Memory:
    """Return the memory that a prompt shows as ``2. [4 May, evening] You say to Ann, "Hello."``."""
    number, text = re.fullmatch(r"(\d+)\. (?:\[.*?\] )?(.*)", line).groups()
    if own := re.fullmatch(r'You say to (\S+), "(.*)"', text):
        return act(int(number), f"say {own[2]}", to=own[1])
    if done := re.fullmatch(r"You did: (.*)", text):
        return act(int(number), done[1])
    who, _, _ = text.partition(" ")
    return old_memory(int(number), START, MemoryKind.PERCEPTION, text, source=who)


def refusal(case: dict) -> str:
    """Return why a summary is refused. Empty if it is accepted."""
    try:
        check_of(case["life"]).read(case["text"])
    except AnswerRefused as refused:
        return refused.what
    return ""


def test_good_summaries_are_accepted_in_every_language_and_form():
    refused = {case["text"]: reason for case in DATA["good"] if (reason := refusal(case))}
    taken = len(DATA["good"]) - len(refused)
    print(f"good summaries accepted: {taken} of {len(DATA['good'])}", refused)
    assert len(DATA["good"]) >= 20
    assert {case["life"][:2] for case in DATA["good"]} == {"en", "de", "es", "fr", "ja"}
    assert taken / len(DATA["good"]) >= 0.95


INVENTED = "Anneke goes to sea, and her aunt Ingrid died in Port Salazar. Jonas had soup."


def test_a_summary_with_names_that_nobody_knows_is_asked_again_and_then_made_without_a_model():
    draft, (_, second) = summarised_by([INVENTED])
    named = "the memories do not mention Ingrid, Port, Salazar"
    assert [named in each.reason for each in draft.refusals] == [True, True]
    assert named in second.messages[-1].text
    assert (draft.model, "Ingrid" in draft.text) == ("extractive", False)
    draft, _ = summarised_by([INVENTED, GOOD])
    assert draft.text == GOOD


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("German", "Die Möwen sind nicht mehr da, und das ist auch gut so."),
        ("Dutch", "De meeuwen zijn er niet meer, en dat is maar goed ook."),
    ],
)
def test_the_language_that_somebody_speaks_is_no_invented_name(language, words):
    said = says(7, "Anneke", words)
    told = f"{GOOD} Anneke spoke of the gulls in {language}."
    source = replace(SOURCE, memories=(*SOURCE.memories, said))
    draft = ModelSummarizer(ScriptedModel([told], Target()), PROMPTS, NAMES)(source)
    assert (draft.text, draft.refusals) == (told, ())


AUNT = "Her aunt Ingrid died."


def test_a_single_name_that_nobody_knows_is_named_to_the_model():
    draft, (_, second) = summarised_by([f"{GOOD} {AUNT}", GOOD])
    assert "the memories do not mention Ingrid" in second.messages[-1].text
    assert draft.text == GOOD


@pytest.mark.parametrize("again", [f"{GOOD} {AUNT}", ""])
@pytest.mark.parametrize(
    ("told", "kept"),
    [
        (f"{GOOD} {AUNT}", GOOD),
        (f"{AUNT} {GOOD}", GOOD),
        (f"- {GOOD}\n- {AUNT}\n\nJonas is warm.", f"- {GOOD}\n\nJonas is warm."),
    ],
)
def test_a_model_that_insists_on_such_a_name_loses_the_sentence(told, kept, again):
    """The second answer may also be refused for another reason."""
    draft, asked = summarised_by([told, again and told])
    assert (draft.text, draft.model, len(asked)) == (kept, "a-model", 2)


def test_a_sentence_that_alone_names_somebody_is_not_lost():
    draft, asked = summarised_by([f"Anneke goes to sea with Ingrid. {GOOD.partition(', and ')[2]}"])
    assert (draft.model, len(asked)) == ("extractive", 2)
    assert "Anneke" in draft.text


def test_a_model_that_names_a_language_says_it_otherwise():
    first = "Anneke told me in Dutch that she goes to sea, and I gave Jonas his soup."
    draft, asked = summarised_by([first, first.replace("in Dutch", "in her own language")])
    assert (draft.model, len(asked)) == ("a-model", 2)
    assert "in her own language" in draft.text


def test_a_day_that_is_written_out_is_no_new_name():
    day = SOURCE.memories[0].time.astimezone()
    text = f"On a {day:%A} in {day:%B}, {GOOD}"
    draft, asked = summarised_by([text])
    assert (draft.text, len(asked)) == (text, 1)


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("Anneke", "annekes Anneke"),  # with another ending
        "- Jonas: had his soup.\n- Anneke: goes to sea. Everybody knows. “Go well,” I said.",
        "## People I Met\n- Anneke goes to sea, I'd say.\n- Jonas is WARM again.",
        "On Monday Anneke told me that she goes to sea in June. Jonas had his soup on Tuesday.",
    ],
)
def test_capitals_that_are_no_new_names_are_accepted(text):
    draft, asked = summarised_by([text])
    assert (draft.text, len(asked)) == (text, 1)


def test_capitals_say_nothing_where_other_words_have_them_too():
    lines = (
        says(1, "Anneke", "Ich habe für die Reise ein Brot und einen Mantel, und Jonas das Geld."),
        says(2, "Anneke", "Wir gehen am Montag in den Hafen, wenn der Wind gut ist."),
    )
    told = "Anneke geht mit Proviant, Kleidung und einem Vermögen auf das Schiff; Jonas kommt mit."
    draft, asked = summarised_by([told], replace(SOURCE, memories=lines))
    assert (draft.text, len(asked)) == (told, 1)


VILLAGE = REPOSITORY / "tests" / "data" / "golden" / "village"


@pytest.mark.parametrize("path", sorted(VILLAGE.glob("*/summaries/*.md")), ids=str)
def test_summaries_of_a_village_that_a_model_wrote_name_nobody_unknown(path):
    """A language is no name, but a capital cannot tell."""
    with closing(Archive(path.parents[1] / "archive", read_only=True)) as archive:
        memories = tuple(archive.read(1, archive.last_number))
    people = {each.source for each in memories} - {""}
    source = SummarySource(Tier.RECENT, path.parents[1].name, memories)
    task = Summarise(source, PROMPTS["summarise"].current, "", frozenset({"The Quay", *people}))
    found = task._invented(frontmatter.loads(path.read_text("utf-8")).content)
    assert {*found} <= {"German"}


@pytest.mark.parametrize(
    "around",
    [
        '{{"summary": "{}"}}',
        '```json\n{{"summary": "{}"}}\n```',
        "```\n{}\n```\n\nLet me know if you need more.",
        "Here is the summary:\n\n{}\n\n---\nI hope this helps!",
        "{}\n\n***\n\nShall I go on?",
    ],
)
def test_what_is_around_a_summary_is_removed(around):
    draft, asked = summarised_by([around.format(GOOD)])
    assert (draft.text, len(asked)) == (GOOD, 1)


@pytest.mark.parametrize(
    "text",
    [
        '{"who": "Anneke goes to sea.", "what": "Jonas had his soup."}',
        '{"summary": ["Anneke goes to sea.", "Jonas had his soup."]}',
        "{Anneke} goes to sea, and Jonas had his soup.",
    ],
)
def test_what_may_be_the_summary_itself_stays(text):
    assert cleaned(text) == text


def test_bad_summaries_are_refused():
    kinds = Counter(case["kind"] for case in DATA["bad"])
    taken = [case for case in DATA["bad"] if not refusal(case)]
    print(f"bad summaries refused: {len(DATA['bad']) - len(taken)} of {len(DATA['bad'])}", taken)
    assert kinds == {"empty": 10, "recited": 10, "another": 10, "names": 10}
    assert len(taken) / len(DATA["bad"]) <= 0.1
