"""Prompts and answers of the library, and to whom confided words are shown."""

import threading

import pytest

from keepsake import (
    KeepsakeError,
    Memory,
    ModelError,
    ModelMissing,
    Person,
    Profile,
    Speech,
)
from tests.fakes.model_server import Reply
from tests.free_ports import free_base
from tests.unit.library.conftest import CHAT
from tests.unit.library.sayings import SISTER, SMALL, texts


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
