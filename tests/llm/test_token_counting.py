"""The estimate of tokens, beside the real model's own count."""

from __future__ import annotations

import itertools
from random import Random

from keepsake.models.clients.openai import OpenAIModel
from keepsake.models.embedded.supervisor import Embedded
from keepsake.models.profiles import LLAMA_CPP
from keepsake.ports import GenerationRequest
from keepsake.prompt.tokens import Heuristic
from tests.bench.talk import talk


def test_the_estimate_is_near_what_the_embedded_model_reads(embedded: Embedded):
    lines = [line.text for line in itertools.islice(talk(Random(5)), 30)]
    model = OpenAIModel(embedded.address, kind=LLAMA_CPP, time_limit=240)
    try:
        prompt = "".join(f"{line}\n" for line in lines)
        # Held to a word: what it would say of itself may be nothing.
        request = GenerationRequest(prompt, max_tokens=1, json_schema={"enum": ["say"]})
        answer = model.generate(request)
        assert abs(sum(Heuristic().each(lines)) / answer.prompt_tokens - 1) < 0.08
    finally:
        model.close()
