"""After a deletion no cache in RAM holds a text that was read before."""

from __future__ import annotations

import pytest

from keepsake.erasure.caches import CacheCleaner
from keepsake.erasure.person import ForgottenPerson
from keepsake.erasure.traces import Traces
from keepsake.language.everyday import everyday_words
from keepsake.language.perception import telling
from keepsake.models.embedders import CachedEmbedder
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import Profiles
from keepsake.models.tickets import Priority
from keepsake.ports import GenerationRequest
from tests.fakes.embedder import BagOfWords
from tests.fakes.model_server import FakeModelServer, llm_page
from tests.unit.llm.conftest import places_in, until

TRACES = Traces(ForgottenPerson("7-1", "Tom", frozenset()))


def test_functions_forget_texts_and_keep_tables():
    telling("The marzipan is in the blue drawer.")
    table = everyday_words()
    CacheCleaner().clean(TRACES)
    assert telling.cache_info().currsize == 0
    assert everyday_words() is table


def test_a_module_with_a_name_that_fails_to_be_looked_up_is_passed_over(monkeypatch):
    class Lazy:
        def __getattr__(self, name):
            raise RuntimeError(f"no {name} yet")

    telling("The marzipan is in the blue drawer.")
    monkeypatch.setattr("keepsake.language.perception.settings", Lazy(), raising=False)
    CacheCleaner().clean(TRACES)
    assert telling.cache_info().currsize == 0


def test_an_embedder_forgets_texts():
    bag = BagOfWords()
    embedder = CachedEmbedder(bag)
    for _ in range(2):
        embedder.embed(["marzipan"])
    assert bag.texts == ["marzipan"]
    CacheCleaner(embedder.forget).clean(TRACES)
    embedder.embed(["marzipan"])
    assert bag.texts == ["marzipan", "marzipan"]


@pytest.mark.parametrize("provider", ["ollama", "scripted"])
def test_a_gateway_forgets_the_last_prompts(tmp_path, provider):
    prompt = "~Mira> look\nA drawer with marzipan.\n~Mira>"
    with FakeModelServer() as server:
        places = places_in(tmp_path)
        places.config.mkdir(parents=True, exist_ok=True)
        page = f"provider={provider} model=fake form=script host={server.address}"
        (places.config / "llm.md").write_text(llm_page(agent=page, summarizer="provider=none"))
        gateway = Gateway(Profiles(places.config / "llm.md"), places, lambda call: call())
        answers = list[object]()
        gateway.submit(
            "agent",
            Priority.PLAYER,
            "mira",
            lambda profile: profile.request(GenerationRequest(prompt, cache_key="mira")),
            answers.append,
        )
        model, _ = gateway.model("agent")
        until(lambda: bool(answers))
        assert "drawer with marzipan" in str(vars(model))
        CacheCleaner(gateway.forget).clean(TRACES)
        assert "drawer with marzipan" not in str(vars(model))
        gateway.shutdown(stop_embedded=False)
