"""How far each way of counting tokens is from what the model server says a prompt had.

The prompts are the game's own: the shipped template, the people of the world, evenings at
the inn. The truth is ``prompt_tokens`` of a real call to the embedded model.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random

import frontmatter

from keepsake.archive.records import Memory, MemoryKind
from keepsake.models.clients.openai import OpenAIModel
from keepsake.models.profiles import LLAMA_CPP
from keepsake.paths import REPOSITORY
from keepsake.ports import GenerationRequest
from keepsake.prompt.tokens import MODEL_SERVER, Heuristic, TokenLedger, estimate_tokens
from keepsake.prompt.verbs import STANDARD_VERBS
from keepsake.summaries import extractive
from keepsake.tasks.talk_scene import TalkScene
from keepsake.tasks.transcript import load_template
from tests.bench.embedded_up import embedded_server
from tests.bench.figures import Figure, median_ms
from tests.bench.talk import PEOPLE, Line, talk

FIRST_BASE = 27_300
_AGENTS = ("bram", "joss", "mira", "nell", "oswin", "ruan", "wren")
_WINDOWS = (16, 48, 96)
_USUAL, _ODD_ONES = 9, 2
_LESSONS = 3
"""Prompts from which the estimate learns before it is judged by the others."""
_ODD = (
    "12 4591 99 7 and 31,415,926.53 crowns, on 2026-05-01 at 18:05:22",
    "Я потерял чашку у лодочного сарая, не видела ли ты её?",
    "昨日は川で大きな魚を釣りました。とても楽しかったです。",
    "HAHAHAHA!!! ¿¿¿what??? ~~~<<>>###@@@ \N{FISH}\N{FISH}\N{FISH} :-) :-)",
    "Où est passée la clé de l'église? Können Sie mir sagen, wo Björn wohnt?",
    "kxqz vbrtw ppfgh zzyx wqertp mnbvl jhgfd",
)


@dataclass(frozen=True)
class _Prompt:
    """A rendered prompt, and what the server says that it has."""

    text: str
    true: int

    @property
    def lines(self) -> list[str]:
        return [line for line in self.text.split("\n") if line]


Count = Callable[[_Prompt], int]


def measure() -> Iterator[Figure]:
    """The error of each source over whole prompts and over lines, and what counting costs."""
    with embedded_server(FIRST_BASE) as server:
        client = OpenAIModel(server.address, kind=LLAMA_CPP, time_limit=900)
        try:
            usual = [_asked(client, _rendered(i, Random(i))) for i in range(_USUAL)]
            odd = [_asked(client, _rendered(i, Random(i), odd=True)) for i in range(_ODD_ONES)]
            yield from _errors(client, usual, odd)
            yield from _line_errors(client, usual)
            yield from _costs(client, usual[2].lines[:128])
        finally:
            client.close()


def _rendered(number: int, random: Random, *, odd: bool = False) -> str:
    """The prompt of one agent after an evening."""
    name = _AGENTS[number % len(_AGENTS)]
    post = frontmatter.load(str(REPOSITORY / "world" / "agents" / f"{name}.md"))
    size = _WINDOWS[number % len(_WINDOWS)]
    lines = list(itertools.islice(talk(random), 3 * size))
    if odd:
        lines = [_strange(line, random) for line in lines]
    told = [line.text for line in lines[: 2 * size]]
    own = str(post["name"])
    scene = TalkScene(
        name=own,
        persona=post.content,
        examples=tuple(str(post.get("examples", [""])[0]).splitlines()),
        commands=tuple(f"{verb.usage}: {verb.help}" for verb in STANDARD_VERBS),
        pinned=("Never open the cellar door.", "Tom owes me two crowns."),
        longterm=extractive.summarize(told[:size], max_chars=900, own_name=own),
        recent=extractive.summarize(told[size:], max_chars=900, own_name=own),
        window=tuple(_script(lines[2 * size :])),
        notes=("garden: leeks in the second bed",),
        place="The Kettle",
        description="A low room of smoke-dark beams.",
        exits=("north", "up"),
        here=PEOPLE[:3],
    )
    return load_template(REPOSITORY / "vault" / "config" / "prompt.md").rendered(scene).text


def _strange(line: Line, random: Random) -> Line:
    if line.kind is MemoryKind.PERCEPTION and random.random() < 0.4:
        return replace(line, text=f'Tom says to you, "{random.choice(_ODD)}"')
    return line


def _script(lines: Sequence[Line]) -> Iterator[Memory]:
    began = datetime(2026, 5, 1, 18, 0, tzinfo=UTC)
    for number, line in enumerate(lines):
        when = began + timedelta(seconds=40 * number)
        yield Memory(number, when, line.kind, line.text)


def _asked(client: OpenAIModel, text: str) -> _Prompt:
    answer = client.generate(GenerationRequest(text, max_tokens=1, temperature=0.0))
    return _Prompt(text, answer.prompt_tokens)


def _errors(client: OpenAIModel, usual: list[_Prompt], odd: list[_Prompt]) -> Iterator[Figure]:
    ways = _ways(client, usual[:_LESSONS])
    for kind, prompts in (("", usual[_LESSONS:]), (", odd players", odd)):
        mean = statistics.mean(prompt.true for prompt in prompts)
        for name, count in ways.items():
            found = [100 * (count(prompt) / prompt.true - 1) for prompt in prompts]
            bias = statistics.mean(found)
            yield Figure(
                f"error of a prompt's count{kind}: {name}",
                len(prompts),
                statistics.mean(map(abs, found)),
                "%",
                f"on average {bias:+.2f} %, worst {max(found, key=abs):+.2f} %;"
                f" prompts of {mean:,.0f} tokens",
            )


def _ways(client: OpenAIModel, lessons: list[_Prompt]) -> dict[str, Count]:
    """Every way to count a prompt, by its name."""
    taught = Heuristic()
    for prompt in lessons:
        # As the game does it behind a server that counts only whole prompts.
        taught.correct(_sum(taught, prompt), prompt.true)
    ways: dict[str, Count] = {
        "model server, whole prompt": lambda prompt: _whole(client, prompt),
        "model server, sum of its lines": lambda prompt: _by_lines(client, prompt),
        f"heuristic, taught by {_LESSONS} prompts": lambda prompt: _sum(taught, prompt),
        "heuristic, untaught": lambda prompt: _sum(Heuristic(), prompt),
        "four characters a token": lambda prompt: estimate_tokens(prompt.text),
    }
    return ways


def _whole(client: OpenAIModel, prompt: _Prompt) -> int:
    return _needed(client.count_tokens([prompt.text]))[0]


def _by_lines(client: OpenAIModel, prompt: _Prompt) -> int:
    """As the game does it: each line by itself, kept in a ledger, and summed."""
    ledger = TokenLedger(Heuristic())
    lines = prompt.lines
    counts = _needed(client.count_tokens(_ended(lines)))
    ledger.learn(dict(zip(lines, counts, strict=True)), MODEL_SERVER)
    return sum(map(ledger.of, lines))


def _sum(heuristic: Heuristic, prompt: _Prompt) -> int:
    return sum(map(heuristic.of, prompt.lines))


def _line_errors(client: OpenAIModel, prompts: list[_Prompt]) -> Iterator[Figure]:
    """How far an estimate of one line may be from its count."""
    lines = list(dict.fromkeys(line for prompt in prompts for line in prompt.lines))
    true = _needed(client.count_tokens(_ended(lines)))
    heuristic = Heuristic()
    ways: dict[str, Callable[[str], int]] = {
        "heuristic, untaught": heuristic.of,
        "four characters a token": estimate_tokens,
    }
    for name, count in ways.items():
        found = [abs(count(line) / tokens - 1) for line, tokens in zip(lines, true, strict=True)]
        at_most = 100 * sorted(found)[int(0.95 * len(found))]
        yield Figure(
            f"error of a line's count: {name}",
            len(lines),
            100 * statistics.mean(found),
            "%",
            f"95 % of the lines within {at_most:.0f} %",
        )
    pieces = sum(heuristic.of(line) for line in lines) / heuristic.factor
    yield Figure("tokens a piece, of the model's tokenizer", len(lines), sum(true) / pieces, "")


def _costs(client: OpenAIModel, lines: list[str]) -> Iterator[Figure]:
    texts = _ended(lines)
    client.count_tokens(texts)
    together = median_ms(lambda: client.count_tokens(texts), rounds=9)
    one = median_ms(lambda: client.count_tokens(texts[:1]), rounds=41)
    size = len(lines)
    yield Figure("count a window's lines by the server, one call", size, together, "ms")
    yield Figure("count one line by the server", 1, one, "ms", f"{one * size:.0f} ms for them all")
    ledger = TokenLedger(Heuristic())
    began = time.perf_counter()
    sum(map(ledger.of, lines))
    first = (time.perf_counter() - began) * 1000
    yield Figure("look a window up that nobody has counted, first time", size, first, "ms")
    again = median_ms(lambda: sum(map(ledger.of, lines)), rounds=41)
    yield Figure("look a window up that nobody has counted, again", size, again, "ms")
    ledger.learn(dict.fromkeys(lines, 20), MODEL_SERVER)
    known = median_ms(lambda: sum(map(ledger.of, lines)), rounds=41)
    yield Figure("look a window up that is counted", size, known, "ms")


def _ended(lines: Sequence[str]) -> list[str]:
    return [f"{line}\n" for line in lines]


def _needed(counts: list[int] | None) -> list[int]:
    if counts is None:
        raise RuntimeError("there is no tokenizer to measure")
    return counts
