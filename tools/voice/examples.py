"""Turns the dialogues of this folder into examples: the prompt the game would send, and the answer.

    python tools/voice/examples.py --server http://127.0.0.1:4007 --out examples.jsonl

Each line that a character says in ``dialogues/*.txt`` becomes one example. It is rendered with the
block ``dialogue`` of ``talk.md``, so that the model is tuned on the game's prompts. Any llama.cpp
server with the model can tokenize the texts. Without a server the plain texts are written.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx

from keepsake.tasks.forms.form import LAST_LINES
from keepsake.tasks.scene import Excerpt, Scene
from keepsake.tasks.task import Prompts
from keepsake.tasks.task_prompts import LOADERS

HERE = Path(__file__).parent
TEMPLATE = HERE.parents[1] / "vault/config/prompts/talk.md"
KEPT_ASIDE = 10
"""One dialogue out of this many in a file is held out from training, for evaluation."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue with a character."""

    scene: Scene
    voice: tuple[str, ...]  # example lines that show how the character speaks
    lines: tuple[str, ...]  # the dialogue's lines, as the prompt shows them
    told: dict[int, tuple[str, ...]] = field(default_factory=dict)  # recalled facts, by line index


def dialogues(path: Path) -> Iterator[Dialogue]:
    """Yield the dialogues of a file; README.md describes the format.

    Raises:
        ValueError: A part of the file is not a dialogue.
    """
    for block in path.read_text(encoding="utf-8").split("\n# "):
        if block.strip():
            yield _dialogue(block.removeprefix("# ").strip(), path.name)


def _dialogue(block: str, file: str) -> Dialogue:
    name, *rest = (line.strip() for line in block.splitlines())
    head: dict[str, str] = {}
    voice = list[str]()
    lines = list[str]()
    told = dict[int, tuple[str, ...]]()
    talks = False
    for line in filter(None, rest):
        key, _, value = line.partition(":")
        if talks and line.startswith("[told]"):
            told[len(lines)] = tuple(each.strip() for each in line[6:].split(" / "))
        elif talks:
            lines.append(line)
        elif line == "talk:":
            talks = True
        elif key == "ex":
            voice += [each.strip() for each in value.split(" | ")]
        else:
            head[key] = value.strip()
    if not lines or "persona" not in head:
        raise ValueError(f"{file}: {name}: a persona and a talk are needed")
    scene = Scene(
        name,
        persona=head["persona"],
        recent=head.get("recent", ""),
        now=head.get("now", ""),
        place=head.get("place", ""),
        here=tuple(filter(None, head.get("here", "").split(", "))),
        people=tuple(filter(None, [head.get("people", "")])),
        pinned=tuple(filter(None, [head.get("always", "")])),
    )
    return Dialogue(scene, tuple(voice), tuple(lines), told)


def examples(talk: Dialogue, prompts: Prompts) -> Iterator[tuple[str, str]]:
    """Yield the prompt and the answer for each line that the character says."""
    own = f"{talk.scene.name}: "
    for at, line in enumerate(talk.lines):
        if not line.startswith(own) or at == 0:
            continue
        shown = talk.lines[:at]
        shown = shown[max(len(shown) // LAST_LINES - 1, 0) * LAST_LINES :]
        values: dict[str, Any] = replace(
            talk.scene, told=tuple(Excerpt((), each) for each in talk.told.get(at, ()))
        ).variables()
        values |= {"examples": [*talk.voice], "talk": shown, "refused": ""}
        yield prompts.render("dialogue", **values), line.removeprefix(own)


def main() -> None:
    """Write the examples of all dialogues as JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", help="a llama.cpp server that has the model")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    prompts = LOADERS["prompts/talk.md"](TEMPLATE)
    client = httpx.Client(base_url=given.server, timeout=60) if given.server else None

    def tokens(text: str) -> list[int]:
        assert client is not None
        answer = client.post("/tokenize", json={"content": text, "add_special": True})
        found: list[int] = answer.raise_for_status().json()["tokens"]
        return found

    count = 0
    with given.out.open("w", encoding="utf-8") as file:
        for path in sorted((HERE / "dialogues").glob("*.txt")):
            for number, talk in enumerate(dialogues(path)):
                for prompt, answer in examples(talk, prompts):
                    row: dict[str, Any] = {"aside": number % KEPT_ASIDE == KEPT_ASIDE - 1}
                    if client is None:
                        row |= {"prompt": prompt, "answer": answer}
                    else:
                        head = tokens(prompt)
                        row |= {"prompt": len(head), "tokens": tokens(f"{prompt} {answer}\n")}
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
                    count += 1
    print(f"{count} examples in {given.out}")


if __name__ == "__main__":
    main()
