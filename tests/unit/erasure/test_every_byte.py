"""After `forget me` no file holds a sentence of the person, be it of the commonest words."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from keepsake.archive.spill import Spill
from keepsake.books.versions import Versions
from keepsake.erasure.archives import memories_of
from keepsake.erasure.erasure import Erasure
from keepsake.erasure.folder import AgentCleaner
from keepsake.erasure.logs import LogCleaner, ReportCleaner
from keepsake.erasure.person import ForgottenPerson
from keepsake.erasure.request import request_for, requests_in
from keepsake.erasure.waiting import SpillCleaner
from keepsake.happening import ME, Person, Speech
from keepsake.language.everyday import everyday_words
from keepsake.tasks.stated import Stated, Statement
from keepsake.tasks.stated_file import keep_stated
from tests.unit.erasure.conftest import START, Village

OTTO = Person("Otto", "41-20261101090000")
ANN = Person("Ann", "42-20261101090000")
MIRA = Person("Mira", "5-1")
JOSS = Person("Joss", "5-2")
AGENTS = frozenset({MIRA.id, JOSS.id})
COMMON = ("the", "of", "and", "to", "in", "is", "you", "that", "it", "he", "was", "for", "on", "at")
SENTENCES = st.lists(st.sampled_from(COMMON), min_size=6, max_size=12).map(
    lambda found: f"{' '.join(found).capitalize()}."
)


@settings(max_examples=15, deadline=None)
@given(st.lists(SENTENCES, min_size=1, max_size=4, unique=True))
def test_no_byte_of_a_sentence_of_common_words_is_left(sentences):
    scratch = Path(tempfile.mkdtemp(prefix="keepsake-erasure-"))
    try:
        fill(scratch, sentences)
        before = everything(scratch)
        assert all(each.encode() in before for each in sentences)
        forget(scratch)
        waiting = Spill(scratch / "waiting.jsonl").of("mira")
        assert [each["text"] for each in waiting] == ["It rains."]
        left = everything(scratch).lower()
        assert not [each for each in sentences if each.lower().encode() in left]
        assert not [each for each in (b"otto", OTTO.id.encode()) if each in left]
        assert b"the soup is on the table" in left
    finally:
        shutil.rmtree(scratch)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(everyday_words())))
def test_a_name_that_is_a_word_changes_no_byte_where_its_person_never_spoke(word):
    scratch = Path(tempfile.mkdtemp(prefix="keepsake-erasure-"))
    name = word.capitalize()
    text = f"{name}? The {word} is old. {name} it is, said {word}."
    try:
        village = Village(scratch / "agents")
        heard = Speech(speaker=ANN, words=text, to=(ME,), shown=f'Ann says to you, "{text}"')
        said = Speech(speaker=ME, words=text, to=(ANN,), shown=f"say {text}")
        for agent in ("mira", "joss"):
            folder = village.live(agent, [(heard, {}), (said, {})])
            for book in ("notes", "people", "journal"):
                (folder / book).mkdir()
            (folder / "notes" / "old.md").write_text(text)
            (folder / "people" / f"Ann-{ANN.id}.md").write_text(f"# Ann\n\n{text}\n")
            (folder / "recent.md").write_text(text)
            (folder / "pinned.md").write_text(f"- {text}\n")
        (scratch / "logs").mkdir()
        (scratch / "logs" / "agents.log").write_text(f"Ann: {text}\n")
        before = files_of(scratch)
        forget(scratch, Person(name, "77-20261101090000"))
        assert files_of(scratch) == before
    finally:
        shutil.rmtree(scratch)


def fill(scratch: Path, sentences: list[str]) -> None:
    """Have the person say the sentences, and everything store them that stores words."""
    village = Village(scratch / "agents")
    lines = []
    for number, each in enumerate(sentences):
        heard = Speech(speaker=OTTO, words=each, to=(ME,), shown=f'Otto says to you, "{each}"')
        passed = Speech(speaker=ME, words=f"I was told: {each}", to=(JOSS,), shown=f"say {each}")
        lines += [(heard, {"happening": f"h-{number}"}), (passed, {"happening": f"p-{number}"})]
    soup = Speech(speaker=ANN, words="The soup is on the table.", to=(ME,), shown="Ann: soup")
    mira = village.live("mira", [*lines, (soup, {})])
    told = [
        (Speech(speaker=MIRA, words=f"I was told: {each}", to=(ME,), shown=f'Mira: "{each}"'), {})
        for each in sentences
    ]
    village.live("joss", told)
    said = " ".join(sentences)
    (mira / "journal").mkdir()
    page = f"# Today\n\n## 1, 10:00\n\n{said}\n\n## 2, 11:00\n\nThe soup is on the table.\n"
    (mira / "journal" / "2026-11-20.md").write_text(page)
    (mira / "recent.md").write_text(f"A man spoke.\n{said}\nThe soup is on the table.\n")
    (mira / "people").mkdir()
    (mira / "people" / f"Otto-{OTTO.id}.md").write_text(said)
    edited = START.replace(day=21)
    for book, name, text in (
        ("people", f"Otto-{OTTO.id}.md", said),
        ("people", "ann-42-1.md", f"# Ann\n\nThe soup is on the table.\n{said}\n"),
        ("journal", "2026-11-20.md", page),
        ("notes", "otto.md", "He was here."),
        ("pins", "pinned.md", f"- {said}\n- The soup is on the table.\n"),
        ("plans", "plans.md", f"- [ ] with Otto: soup (plan 1, memory 1, by {OTTO.id})\n"),
    ):
        Versions(mira, book).keep(mira / book / name, text, edited)
    quotes = frozenset(f"'{each}'" for each in sentences)
    line = (f"[Otto, met 9 November; told you: {', '.join(sorted(quotes))}]", "people")
    keep_stated(mira, Stated((Statement(1, "person: Otto", (line,), parts=quotes),), 1))
    (mira / "memories").mkdir()
    (mira / "memories" / "plugged.bin").write_bytes(said.encode())
    spill = Spill(scratch / "waiting.jsonl")
    waiting = Speech(speaker=OTTO, words=said, to=(ME,), shown=f'Otto says, "{said}"')
    line = {"t": START.isoformat(), "kind": "perception", "text": waiting.shown, "what": "speech"}
    spill.keep("mira", {**line, "source": "Otto", "source_id": OTTO.id, "words": said})
    spill.keep("mira", {**line, "text": "It rains.", "words": "It rains.", "source": "Ann"})
    logs = scratch / "logs"
    (logs / "events").mkdir(parents=True)
    prompt = f'Mira is here.\nOtto says to you, "{said}"\nThe soup is on the table.'
    event = {"v": 1, "seq": 1, "kind": "thought", "source": "Otto", "answer": f"say {said}"}
    (logs / "events" / "events-2026-11-20-0000000001.jsonl").write_text(f"{json.dumps(event)}\n")
    (logs / "events" / "prompts-2026-11-20-0000000001.jsonl").write_text(
        f"{json.dumps({'v': 1, 'hash': 'abc', 'text': prompt})}\n"
    )
    (logs / "agents.log").write_text(f"2026-11-20 Otto: {said}\nAnn: The soup is on the table.\n")
    report = {"by": "Otto", "by_id": OTTO.id, "about": "Ann", "text": f"Ann said: {said} She did."}
    (logs / "reports.jsonl").write_text(f"{json.dumps(report, separators=(',', ':'))}\n")


def forget(scratch: Path, who: Person = OTTO) -> None:
    person = ForgottenPerson(who.id, who.name, AGENTS)
    erasure = Erasure(request_for(scratch / "forgetting", person))
    folders = [scratch / "agents" / name for name in ("mira", "joss")]
    erasure.begin(list(map(memories_of, folders)))
    logs = scratch / "logs"
    spill = Spill(scratch / "waiting.jsonl")
    erasure.run([ReportCleaner(logs / "reports.jsonl"), LogCleaner(logs)])
    erasure.run([SpillCleaner(spill, "mira"), *map(AgentCleaner, folders)])
    assert erasure.problems == []
    assert erasure.end()
    assert not list(requests_in(scratch / "forgetting"))


def everything(scratch: Path) -> bytes:
    return b"\n".join(path.encode() + content for path, content in files_of(scratch).items())


def files_of(scratch: Path) -> dict[str, bytes]:
    files = [path for path in sorted(scratch.rglob("*")) if path.is_file()]
    return {str(path): path.read_bytes() for path in files}
