"""The public library: what a program can do with a memory, and what it is told when it cannot."""

import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta

import pytest

from keepsake import (
    ArchiveInUse,
    Deed,
    IndexUnavailable,
    KeepsakeError,
    Memory,
    ModelError,
    ModelMissing,
    NameRefused,
    Person,
    Pose,
    Profile,
    Sight,
    Speech,
)
from keepsake.files import OWN
from keepsake.ports import FixedClock
from tests.fakes.model_server import Reply
from tests.free_ports import free_base
from tests.unit.library.conftest import CHAT

SISTER = Speech("Anneke", "My sister Liesbet drowned three winters ago.", to=["Mira"])
SMALL = {"immediate_window": 4, "recent_window": 4, "preserve_memories": 4}
FRAMEWORKS = ("twisted", "django", "evennia", "numpy", "onnxruntime", "chromadb")


def texts(found):
    return [each.words or each.text for each in found]


# -- remembering and reopening


def test_what_was_perceived_is_recalled_after_a_restart_without_an_index(opened, tmp_path):
    with opened() as mira:
        assert mira.perceive(SISTER) == 1
        mira.perceive(Speech("Bram", "The bread is ready."))
    index = tmp_path / "mira" / OWN / "index"
    for path in index.rglob("*.db*"):
        path.unlink()
    with opened() as mira:
        assert texts(mira.recall("sister", limit=1)) == [SISTER.words]


def test_an_index_that_is_behind_the_archive_is_brought_up_to_date(opened, tmp_path):
    index = tmp_path / "mira" / OWN / "index" / "Mira" / "words.db"
    with opened() as mira:
        mira.perceive(SISTER)
        mira.recall("sister")
    old = index.read_bytes()
    with opened() as mira:
        mira.perceive(Speech("Bram", "Oswin sells honey."))
        mira.recall("honey")
    index.write_bytes(old)
    with opened() as mira:
        assert texts(mira.recall("honey", limit=1)) == ["Oswin sells honey."]


def test_the_four_happenings_are_archived_as_data(opened):
    with opened() as mira:
        mira.perceive(Speech("Anneke", 'He said "no".', to=["Mira"], manner="whisper"))
        mira.perceive(Deed("Anneke", "give", ["a blue cup"], to=["Mira"]))
        mira.perceive(Pose("Tom", "says he is Bram."))
        mira.perceive(Sight("The ferry leaves."))
        whisper, gift, pose, sight = mira._opened.archive.read(1, 4)
    assert whisper.heard.words == "He said 'no'."
    assert whisper.confidants == {whisper.heard.speaker.id}
    assert gift.gift_to_me == "a blue cup"
    assert pose.line.startswith("Tom poses: ")
    assert sight.text == "The ferry leaves."


def test_memories_are_numbered_and_timed_by_the_memory(opened):
    clock = FixedClock(datetime(2026, 5, 1, 12, tzinfo=UTC))
    with opened(clock=clock) as mira:
        mira.perceive(SISTER)
        clock.time += timedelta(hours=1)
        number = mira.perceive(Speech("Mira", "I am sorry.", to=["Anneke"]))
        past = mira.perceive(Sight("It rained."), time=datetime(2020, 1, 1, tzinfo=UTC))
        said, rain = mira._opened.archive.read(2, 3)
    assert (number, past) == (2, 3)
    assert said.is_own
    assert said.time == clock.time
    assert rain.time.year == 2020


@pytest.mark.parametrize(
    ("happening", "told"),
    [
        (Speech("", "Hello."), "no name"),
        (Speech("Anneke", "   \n"), "nothing in the words of a Speech"),
        (Speech("Anneke", "x" * 10_001), "several happenings"),
        (Speech("Anneke", "Hello.", to="Mira"), r"Write \['Mira'\]"),
        (Speech("Anneke", "Hello.", manner="sing"), "no manner"),
        (Speech("Anneke", "Hello.", manner="whisper"), "no addressee"),
        (Speech(Person("Anneke", "../x"), "Hello."), "id of a person"),
        (Speech(Person("Anneke", "me"), "Hello."), "id of a person"),
        (Deed("Anneke", "give", "cup"), "list of things"),
        (Sight(None), "but a NoneType"),
        ("Hello.", "pass a keepsake.Speech"),
    ],
)
def test_what_cannot_be_remembered_is_refused_with_its_cure(opened, happening, told):
    with opened() as mira:
        with pytest.raises(KeepsakeError, match=f"(?i){told}"):
            mira.perceive(happening)
        assert mira.status().memories == 0


@pytest.mark.parametrize("name", ["..", "a/b", "Tom: the baker", "|rRed", "x" * 60])
def test_a_name_that_is_no_name_is_refused(tmp_path, name):
    with pytest.raises(NameRefused, match="An agent cannot be called"):
        Memory(tmp_path / "x", name=name)
    assert not (tmp_path / "x").exists()


def test_settings_are_known_by_name_and_checked(opened):
    with pytest.raises(KeepsakeError, match="There is no setting windows"):
        opened(settings={"windows": 3})
    with pytest.raises(KeepsakeError, match="immediate_window"):
        opened(settings={"immediate_window": 0})
    with opened(settings={"immediate_window": 8, "recent_window": 8, "memories": 7}) as mira:
        assert mira._opened.limits.immediate_window == 8


# -- one process, many threads


def test_a_second_opening_is_refused_and_the_error_names_the_cure(opened, tmp_path):
    with opened() as mira:
        mira.perceive(SISTER)
        with pytest.raises(ArchiveInUse, match="keepsake serve"):
            Memory(tmp_path / "mira")
        program = f"from keepsake import Memory; Memory({str(tmp_path / 'mira')!r})"
        command = [sys.executable, "-c", program]
        other = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "is open already" in other.stderr
    with opened() as mira:
        assert mira.status().memories == 1


def test_threads_remember_together_and_nothing_is_lost(opened):
    with opened(model=None) as mira:

        def tell(who):
            for number in range(50):
                mira.perceive(Speech(who, f"My word number {number} of {who}."))
                mira.recall(who, limit=1)

        threads = [threading.Thread(target=tell, args=(f"Tom{n}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        numbers = [memory.number for memory in mira._opened.archive.read(1, 1000)]
    assert numbers == list(range(1, 201))


def test_a_closed_memory_says_so(opened):
    mira = opened()
    mira.close()
    mira.close()
    with pytest.raises(KeepsakeError, match="closed"):
        mira.perceive(SISTER)


def test_no_framework_and_no_client_is_loaded(tmp_path):
    program = (
        "import sys\n"
        "from keepsake import Memory, Speech\n"
        f"with Memory({str(tmp_path / 'mira')!r}) as mira:\n"
        "    mira.perceive(Speech('Anneke', 'Liesbet drowned.', to=['Mira']))\n"
        "    mira.recall('Liesbet'), mira.prompt('Who drowned?', by='Anneke')\n"
        "    mira.plan('tomorrow: light a candle'), mira.plans(), mira.people()\n"
        "    mira.compact(), mira.forget('Anneke')\n"
        "print(' '.join({name.partition('.')[0] for name in sys.modules}))\n"
    )
    command = [sys.executable, "-c", program]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not {*FRAMEWORKS, "httpx", "ollama"} & set(said.stdout.split())


# -- prompts and answers


def test_a_prompt_has_persona_talk_and_what_was_recalled_within_its_budget(opened):
    with opened(settings=SMALL) as mira:
        mira.perceive(SISTER)
        mira.perceive(Speech("Bram", "How sad."))
        for number in range(40):
            mira.perceive(Speech("Bram", f"Loaf number {number} is baked."))
        mira.compact()
        mira.compact()
        prompt = mira.prompt("What of my sister Liesbet?", by="Anneke")
        small = mira.prompt("What of my sister Liesbet?", by="Anneke", budget=1200)
        remembered = mira.status().memories
    assert prompt.messages[0]["role"] == "system"
    assert prompt.messages[0]["content"].startswith("You are Mira, who keeps the inn.")
    last = prompt.messages[-1]["content"]
    assert "Loaf number 39 is baked" in last
    assert "Liesbet drowned three winters ago" in last
    assert small.tokens <= small.budget == 1200
    assert remembered == 42  # a prompt remembers nothing


def test_a_prompt_rests_on_the_memories_that_it_recalls(opened, server):
    server.always(CHAT, Reply("Bram baked loaf after loaf with seeds, and told me of each."))
    with opened(settings=SMALL) as mira:
        mira.perceive(Speech("Oswin", "The silver key is under the third flowerpot.", to=["Mira"]))
        for number in range(120):
            mira.perceive(Speech("Bram", f"Loaf number {number} with {number % 7} seeds is baked."))
        while mira.summaries().window[0] < 110:
            mira.compact()
        prompt = mira.prompt("Where is the silver key?", by="Anneke")
        assert "under the third flowerpot" in prompt.messages[-1]["content"]
        assert 1 in prompt.rests_on
        mira.perceive(Speech("Mira", "Under a flowerpot."), rests_on=prompt.rests_on)
        with pytest.raises(KeepsakeError, match="There is no memory 999"):
            mira.perceive(Speech("Mira", "Under a flowerpot."), rests_on=[999])
        assert mira._opened.archive.read(122, 122)[0].rests_on == prompt.rests_on


def test_an_answer_is_remembered_with_its_question_and_what_it_rests_on(opened, server):
    with opened() as mira:
        mira.perceive(SISTER)
        lines = []
        server.plan(CHAT, Reply("*looks down*\nShe drowned. I am sorry."))
        answer = mira.answer("What did I tell you?", by="Anneke", on_line=lines.append)
        asked, gesture, said = mira._opened.archive.read(2, 4)
    assert lines == answer.text.split("\n")
    assert " ".join(lines) == "She drowned. I am sorry."
    assert answer.gestures == ("looks down",)
    assert (answer.question, answer.number) == (2, 4)
    assert asked.heard.words == "What did I tell you?"
    assert gesture.what.gesture == "looks down"
    assert said.said.words == "She drowned. I am sorry."
    assert said.addressee.name == "Anneke"
    assert server.calls(CHAT)[0].body["messages"][0]["role"] == "system"


def test_an_answer_that_the_guard_refuses_is_asked_for_once_more(opened, server):
    with opened() as mira:
        server.plan(CHAT, Reply("Anneke: And then she said it."), Reply("I do not know."))
        assert mira.answer("What?", by="Anneke").text == "I do not know."
    assert len(server.calls(CHAT)) == 2


def test_silence_is_an_answer(opened, server):
    with opened() as mira:
        server.plan(CHAT, Reply("> wait"))
        answer = mira.answer("Hm.", by="Anneke")
        assert (answer.text, answer.number) == ("", 0)
        assert mira.status().memories == 1


def test_a_failed_model_leaves_the_question_and_says_what_to_do(opened, server):
    with opened() as mira:
        server.always(CHAT, Reply(status=400))
        with pytest.raises(ModelError):
            mira.answer("What?", by="Anneke")
        assert mira.status().memories == 1
        server.always(CHAT, Reply("Here I am."))
        assert mira.answer("What now?", by="Anneke").text == "Here I am."


@pytest.mark.parametrize("name", ["ollama:llama9@http://{}", "openai:llama9@http://{}"])
def test_the_cure_of_an_absent_server_speaks_of_what_a_program_passed(tmp_path, name):
    model = name.format(f"127.0.0.1:{free_base()}")
    told = pytest.raises(ModelError, match="host in the model that you named")
    with Memory(tmp_path / "mira", model=model) as mira, told as error:
        mira.answer("Hello.", by="Tom")
    assert "llm.md" not in str(error.value)


def test_without_a_model_there_is_no_answer_and_nothing_is_remembered(opened):
    with opened(model=None) as mira:
        with pytest.raises(ModelMissing, match=r"ollama:qwen3\.5:4b"):
            mira.answer("What?", by="Anneke")
        assert mira.status().memories == 0


@pytest.mark.parametrize("name", ["qwen3", "openai:qwen3", "ollama:", "http://x#y"])
def test_a_string_that_names_no_model_is_refused(tmp_path, name):
    with pytest.raises(ModelMissing, match="names no model"):
        Memory(tmp_path / "x", model=name)


def test_a_profile_and_an_own_model_answer_too(opened, server):
    profile = Profile("agent", provider="openai", model="fake", host=server.address)
    with opened(model=profile) as mira:
        assert mira.answer("Hello?", by="Anneke").text == "Good day to you."

    class Own:
        name = "own"

        def generate(self, request):
            raise ValueError(request)

    with opened(model=Own()) as mira, pytest.raises(ModelError, match="The model own failed"):
        mira.answer("Hello?", by="Anneke")


def test_closing_gives_up_an_answer(opened, server):
    gate = threading.Event()
    mira = opened()
    server.always(CHAT, Reply("Late.", gate=gate))
    failed = []

    def ask():
        try:
            mira.answer("What?", by="Anneke")
        except KeepsakeError as error:
            failed.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    while not server.calls(CHAT):
        pass
    mira.close()
    asking.join(10)
    gate.set()
    assert failed


# -- confidence


def test_confided_words_are_shown_to_nobody_else(opened, server):
    secret = "I buried the silver under the plum tree."
    with opened() as mira:
        mira.perceive(Speech("Anneke", secret, to=["Mira"], manner="whisper"))
        for others in ({}, {"here": ["Bram"]}):
            prompt = mira.prompt("Where is the silver under the plum tree?", by="Bram", **others)
            assert "buried" not in prompt.text
        mixed = mira.prompt("Where is the silver?", by="Anneke", here=["Bram"])
        assert "buried" not in mixed.text
        alone = mira.prompt("Where is the silver?", by="Anneke", whisper=True)
        assert "buried" in alone.text
        assert alone.only_for is not None
        assert texts(mira.recall("silver", audience=["Bram"])) == []
        assert texts(mira.recall("silver", audience=["Anneke"])) == [secret]
        assert "buried" not in str(mira.people())
        server.plan(CHAT, Reply("Under the plum tree."))
        mira.answer("Where is it?", by="Anneke", whisper=True)
        said = mira._opened.archive.read(3, 3)[0]
    assert said.manner == "whisper"
    assert said.confidants == set(alone.only_for)


def test_an_id_tells_two_people_of_one_name_apart(opened):
    one = Person("Tom", "discord:1")
    two = Person("Tom", "discord:2")
    with opened() as mira:
        mira.perceive(Speech(one, "I sell apples.", to=["Mira"]))
        mira.perceive(Speech(two, "I sell pears.", to=["Mira"]))
        assert {each.id for each in mira.people()} == {"discord:1", "discord:2"}
        with pytest.raises(KeepsakeError, match="2 people are called Tom"):
            mira.forget("Tom")
        mira.forget(two)
        assert texts(mira.recall("pears")) == []
        assert texts(mira.recall("apples")) == ["I sell apples."]


# -- summaries, plans, forgetting


def test_compact_and_undo_move_memories_and_lose_none(opened):
    with opened(model=None, settings=SMALL) as mira:
        mira.perceive(SISTER)
        mira.perceive(Speech("Mira", "How sad.", to=["Anneke"]))
        for number in range(7):
            mira.perceive(Speech("Bram", f"Loaf number {number} is baked today."))
        mira.compact()
        assert "Liesbet" in mira.summaries().recent
        assert mira.summaries().window[0] > 1
    with opened(model=None, settings=SMALL) as mira:
        assert "Liesbet" in mira.summaries().recent
        mira.undo()
        assert mira.summaries().window == (1, 9)
        assert mira.status().memories == 9


def test_a_full_window_is_compacted_in_the_background(opened):
    with opened(model=None, settings={"immediate_window": 8, "recent_window": 8}) as mira:
        done = threading.Event()
        mira._opened.archive.append = _notifying(mira._opened.archive.append, done)
        for number in range(30):
            mira.perceive(Speech("Bram", f"Loaf number {number} is baked today."))
        assert done.wait(30)
    with opened(model=None) as mira:
        assert mira.status().compactions > 0


def _notifying(append, done):
    def notify(record):
        append(record)
        if record["type"] == "compaction":
            done.set()

    return notify


def test_plans_come_from_the_model_and_from_the_program_and_are_missed(opened, server):
    clock = FixedClock(datetime(2026, 5, 1, 9).astimezone())
    with opened(clock=clock) as mira:
        server.plan(CHAT, Reply("I will.\n> plan today 12:00, Anneke: show her the ferry"))
        [made] = mira.answer("Will you show me the ferry?", by="Anneke").plans
        mira.plan("ask Bram for honey")
        assert [plan.what for plan in mira.plans()] == ["show her the ferry", "ask Bram for honey"]
        assert made.whom.name == "Anneke"
        mira.end_plan(2)
        clock.time += timedelta(hours=6)
        assert mira.plans() == []
    with opened(clock=clock) as mira:
        assert [plan.state for plan in mira.plans(ended=True)] == ["missed", "done"]


def test_forgetting_deletes_the_words_from_every_file(opened, tmp_path):
    with opened(model=None, settings=SMALL) as mira:
        mira.perceive(SISTER)
        for number in range(8):
            mira.perceive(Speech("Bram", f"Loaf number {number} is baked today."))
        mira.compact()
        mira.people()
        done = mira.forget("anneke")
        assert (done.memories, done.problems) == (1, ())
        assert mira.perceive(Sight("It rains.")) == 10
        assert texts(mira.recall("loaf", limit=1))
    for path in (tmp_path / "mira").rglob("*"):
        assert not path.is_file() or b"Liesbet" not in path.read_bytes(), path


def test_an_interrupted_forgetting_goes_on_at_the_next_opening(opened, tmp_path, monkeypatch):
    from keepsake.erasure import folder  # noqa: PLC0415

    def fail(*_):
        raise OSError("disk full")

    with opened(model=None) as mira:
        mira.perceive(SISTER)
        with monkeypatch.context() as patched:
            patched.setattr(folder.ArchiveCleaner, "clean", fail)
            assert mira.forget("Anneke").problems
        assert texts(mira.recall("sister"))
    with opened(model=None) as mira:
        assert texts(mira.recall("sister")) == []


def test_what_the_agent_said_and_did_itself_is_recalled_with_its_name(opened):
    with opened() as mira:
        mira.perceive(Speech("Mira", "The loft is free.", to=["Anneke"]))
        mira.perceive(Speech("Mira", "The loft has a ghost.", to=["Bram"], manner="whisper"))
        mira.perceive(Pose("Mira", "sweeps the loft."))
        mira.perceive(Deed("Mira", "rent", ["the loft"], to=["Tom"]))
        mira.perceive(Speech("Tom", "The loft is mine."))
        found = sorted((each.number, each.text) for each in mira.recall("loft"))
    assert [text for _, text in found] == [
        'Mira says to Anneke, "The loft is free."',
        'Mira whispers to Bram, "The loft has a ghost."',
        "Mira sweeps the loft.",
        "Mira does: rent the loft to Tom",
        'Tom says, "The loft is mine."',
    ]


# -- recall by meaning


def test_without_an_embedder_recall_is_by_words_and_says_so(opened):
    with opened() as mira:
        mira.perceive(SISTER)
        assert texts(mira.recall("sister"))
        status = mira.status()
    assert not status.by_meaning
    assert "evennia-keepsake[vectors]" in status.problem


def test_an_index_that_cannot_be_searched_is_an_error(opened, monkeypatch):
    with opened() as mira:
        mira.perceive(SISTER)

        def fail(*_, **__):
            raise IndexUnavailable("The disk is full")

        monkeypatch.setattr(mira._opened.index.words, "search", fail)
        with pytest.raises(IndexUnavailable):
            mira.recall("sister")


@pytest.mark.parametrize("limit", [0, -1, 201])
def test_a_limit_out_of_range_is_refused(opened, limit):
    with opened() as mira, pytest.raises(KeepsakeError, match="limit"):
        mira.recall("sister", limit=limit)
