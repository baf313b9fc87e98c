"""The Dockerfile, carried out in a root folder of Debian's, since there may be no Docker.

It runs as root, where ``KEEPSAKE_IMAGE_BASE`` names a folder that this made:

    debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates trixie FOLDER
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from keepsake.paths import REPOSITORY
from tests.slow.image.chroot import Container, Image

BASE = os.environ.get("KEEPSAKE_IMAGE_BASE", "")
PATIENCE = 180
"""Seconds for a world to be built and started; it takes some fifteen on a quiet machine."""
GRACE = 10
"""Seconds that Docker gives a container between SIGTERM and SIGKILL."""
GREETING = """
import socket, sys
line = socket.create_connection(("127.0.0.1", 4000), 20)
line.settimeout(20)
text = b""
while b"create" not in text:
    text += line.recv(4096)
"""

pytestmark = pytest.mark.skipif(
    not BASE or os.geteuid() != 0, reason="KEEPSAKE_IMAGE_BASE names no root folder, or no root"
)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    folder = tmp_path_factory.mktemp("image")
    source = folder / "source"
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    for name in filter(None, names.stdout.split("\0")):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(REPOSITORY / name, source / name)
    yield Image(Path(BASE), folder, source)
    shutil.rmtree(folder)  # two gigabytes


@pytest.fixture
def start(image: Image) -> Iterator[Callable[..., Container]]:
    """A function that starts the image; what still runs at the end is killed."""
    started = list[Container]()

    def start(*words: str) -> Container:
        started.append(image.start(*words, KEEPSAKE_MODEL="none"))
        return started[-1]

    yield start
    for each in started:
        each.kill()


def end(container: Container) -> float:
    """Stop a container as Docker does, and return the seconds that it took."""
    began = time.monotonic()
    os.kill(container.first, getattr(signal, container.image.stop_signal))
    container.process.wait(60)
    return time.monotonic() - began


def until_healthy(container: Container, *check: str) -> None:
    """Wait until the image's health check, or another, says that the container can be used."""
    deadline = time.monotonic() + PATIENCE
    while container.run(*(check or container.image.command["health"])).returncode != 0:
        assert container.process.poll() is None, container.image.log.read_text()
        assert time.monotonic() < deadline, container.image.log.read_text()
        time.sleep(1)


def test_the_image_runs_without_root_keeps_its_volume_and_stops_in_time(image, start):
    first = start()
    until_healthy(first)
    assert first.run("python", "-c", GREETING).returncode == 0
    found = json.loads(first.run("keepsake", "status", "--json").stdout)
    owners = first.run("sh", "-c", "stat --format %U /proc/[0-9]*").stdout.split()
    password = first.run("cat", "/data/home/admin-password").stdout
    agents = first.run("ls", "/data/vault/agents").stdout.split()
    took = [end(first)]
    status = first.process.returncode

    second = start()
    until_healthy(second)
    kept = second.run("cat", "/data/home/admin-password").stdout
    writable = second.run("find", "/app", "/opt/keepsake", "-writable", "-type", "f").stdout
    took.append(end(second))

    assert found["listen"] == "0.0.0.0"
    assert {found["ports"][each] for each in ("telnet", "web", "web socket")} == set(image.ports)
    assert set(owners) == {"keepsake"}
    assert len(agents) == 7, agents
    assert password == kept != ""
    assert writable == ""
    assert status == 0, image.log.read_text()
    assert max(took) < GRACE, took


def test_chroma_of_compose_scale_is_healthy(start):
    text = (REPOSITORY / "compose.scale.yaml").read_text(encoding="utf-8")
    chroma = yaml.safe_load(text)["services"]["chroma"]
    container = start(*chroma["command"])
    until_healthy(container, *chroma["healthcheck"]["test"][1:])
    assert end(container) < GRACE


def test_the_image_has_no_tool_of_the_build(image):
    assert not (image.root / "opt" / "installer").exists()
    assert not (image.root / "app" / "tests").exists()
    assert not list((image.root / "opt" / "keepsake" / "bin").glob("pip*"))
