"""Builds and runs the Dockerfile without Docker: each instruction in a root folder of Debian's.

It needs root and a folder that ``debootstrap`` made, with Debian's own Python in place of the
image ``python:3.13-slim-trixie``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.slow.image.recipe import DOCKERFILE, Instruction, context, stages

BUILD_SECONDS = 540
NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")
"""Files of this machine with which a build reaches the package index, if they are there."""
_PYTHON = "python"
"""The image of Python calls its interpreter so; Debian does not."""


class Image:
    """The last stage of the Dockerfile as a folder, and how Docker would run it."""

    def __init__(self, base: Path, root: Path, source: Path) -> None:
        """Build it: ``base`` is the folder of debootstrap, ``root`` an empty one, for the stages.

        ``source`` is the checkout, of which the build gets what .dockerignore lets through.
        """
        self._base = base
        self._folder = root
        self.source = source
        self.log = root / "container.log"
        self.command = dict[str, list[str]]()
        for name, instructions in stages(DOCKERFILE.read_text(encoding="utf-8")).items():
            self._start_stage(name)
            for each in instructions:
                INSTRUCTIONS[each.name](self, each)

    @property
    def root(self) -> Path:
        """The folder of the stage that is built, in the end that of the last one."""
        return self._folder / (self._stage or "image")

    def _start_stage(self, name: str) -> None:
        self._stage = name
        self.environ = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
        }
        self._arguments = dict[str, str]()
        self.user = "root"
        self.workdir = "/"
        subprocess.run(["cp", "--archive", self._base, self.root], check=True)
        (self.root / "usr/local/bin" / _PYTHON).symlink_to("/usr/bin/python3")
        for each in NETWORK:
            if Path(each).exists():
                copy = self.root / each.lstrip("/")
                copy.unlink(missing_ok=True)
                shutil.copyfile(each, copy)

    # -- instructions

    def _arg(self, each: Instruction) -> None:
        name, _, value = each.rest.partition("=")
        self._arguments[name] = value.strip('"')

    def _env(self, each: Instruction) -> None:
        for word in each.words:
            name, _, value = word.partition("=")
            self.environ[name] = value.replace("$PATH", self.environ["PATH"])

    def _workdir(self, each: Instruction) -> None:
        self.workdir = each.rest
        self._inside(each.rest).mkdir(parents=True, exist_ok=True)

    def _user(self, each: Instruction) -> None:
        self.user = each.rest

    def _volume(self, each: Instruction) -> None:
        assert self._inside(each.rest).is_dir(), each.rest

    def _copy(self, each: Instruction) -> None:
        sources = each.words[:-1]
        target = each.words[-1]
        if each.source_stage:
            origin = self._folder / each.source_stage / sources[0].lstrip("/")
            subprocess.run(
                ["cp", "--archive", "--no-target-directory", origin, self._inside(target)],
                check=True,
            )
            return
        wanted = [name for name in context(self.source) if sources == ["."] or name in sources]
        assert wanted, each.rest
        for name in wanted:
            copy = self._inside(self.workdir) / target / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.source / name, copy)

    def _run(self, each: Instruction) -> None:
        # The certificates of this machine, for pip and uv; Docker's build would have no such need.
        certificates = dict.fromkeys(("SSL_CERT_FILE", "PIP_CERT"), NETWORK[-1])
        environ = self._arguments | certificates
        done = subprocess.run(
            self._apart(self._inside_command(["/bin/sh", "-c", each.rest], environ)),
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{each.rest}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"

    def _entrypoint(self, each: Instruction) -> None:
        self.command["entrypoint"] = json.loads(each.rest)

    def _cmd(self, each: Instruction) -> None:
        self.command["cmd"] = json.loads(each.rest)

    def _healthcheck(self, each: Instruction) -> None:
        found = re.search(r"CMD\s+(\[.*\])", each.rest)
        assert found
        self.command["health"] = json.loads(found[1])

    def _expose(self, each: Instruction) -> None:
        self.ports = list(map(int, each.words))

    def _stopsignal(self, each: Instruction) -> None:
        self.stop_signal = each.rest

    # -- running

    def _inside(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def _inside_command(self, words: list[str], environ: Mapping[str, str]) -> list[str]:
        pairs = [f"{name}={value}" for name, value in (self.environ | environ).items()]
        script = f'cd {self.workdir} && exec "$@"'
        home = "/root" if self.user == "root" else "/home/keepsake"
        return [
            "chroot",
            f"--userspec={self.user}",
            str(self.root),
            "/usr/bin/env",
            "-i",
            f"HOME={home}",
            *pairs,
            "/bin/sh",
            "-c",
            script,
            "sh",
            *words,
        ]

    def _apart(self, words: list[str], *unshared: str) -> list[str]:
        """Return the command line that runs words with mounts of their own, which end with it."""
        script = (
            f"mount -t proc proc {self.root}/proc && mount --rbind /dev {self.root}/dev "
            '&& { ip link set lo up || true; } && exec "$@"'
        )
        return ["unshare", "--mount", *unshared, "sh", "-c", script, "sh", *words]

    def start(self, *words: str, **environ: str) -> Container:
        """Start the image as Docker does: first process of its own, with a network of its own.

        ``words`` stand in for the image's command.
        """
        inside = [*self.command["entrypoint"], *(words or self.command["cmd"])]
        with self.log.open("a", encoding="utf-8") as log:
            process = subprocess.Popen(
                self._apart(self._inside_command(inside, environ), "--pid", "--net", "--fork"),
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        return Container(self, process)

    def command_in(self, pid: int, words: list[str], **environ: str) -> list[str]:
        """Return the command line that runs words in the container whose first process is pid."""
        names = ["nsenter", f"--target={pid}", "--mount", "--pid", "--net", "--"]
        return [*names, *self._inside_command(words, environ)]


INSTRUCTIONS: Mapping[str, Callable[[Image, Instruction], None]] = {
    "ARG": Image._arg,
    "ENV": Image._env,
    "WORKDIR": Image._workdir,
    "USER": Image._user,
    "VOLUME": Image._volume,
    "COPY": Image._copy,
    "RUN": Image._run,
    "ENTRYPOINT": Image._entrypoint,
    "CMD": Image._cmd,
    "HEALTHCHECK": Image._healthcheck,
    "EXPOSE": Image._expose,
    "STOPSIGNAL": Image._stopsignal,
}
"""What the build does for each instruction. Another one is a KeyError: add it here."""


class Container:
    """A started image."""

    def __init__(self, image: Image, process: subprocess.Popen[str]) -> None:
        self.image = image
        self.process = process

    @property
    def first(self) -> int:
        """The number, outside, of the container's first process; waits until it has begun."""
        while self.process.poll() is None:
            children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
            for each in children.read_text(encoding="ascii").split():
                begun = Path(f"/proc/{each}/comm").read_text(encoding="ascii").strip()
                if begun == self.image.command["entrypoint"][0]:
                    return int(each)
            time.sleep(0.05)
        raise AssertionError(self.image.log.read_text(encoding="utf-8"))

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program in it, as its user, as ``docker exec`` does."""
        command = self.image.command_in(self.first, list(words))
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    def kill(self) -> None:
        """End it at once, with all its processes, if it still runs."""
        if self.process.poll() is None:
            os.kill(self.first, signal.SIGKILL)
            self.process.wait()
