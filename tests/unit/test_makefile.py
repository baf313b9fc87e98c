"""Whatever `make install` downloads has a version and a hash."""

from __future__ import annotations

import re

import pytest

from keepsake.paths import REPOSITORY

MAKEFILE = (REPOSITORY / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
STAMP = re.search(r"^\$\(STAMP\):.*?(?=^\S|\Z)", MAKEFILE, re.M | re.S)
LOCKS = sorted(REPOSITORY.glob("requirements*.lock"))


def test_nothing_is_installed_without_its_hash():
    assert STAMP is not None
    commands = re.findall(r"pip install[^;\n]*", STAMP[0])
    assert len(commands) == 3
    for command in commands:
        local = "--no-deps" in command and command.rstrip().endswith("--editable .")
        assert local or "--require-hashes" in command, command


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_each_package_of_a_lock_has_its_version_and_hashes(lock):
    entries = lock.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    packages = [each for each in entries if each.strip() and not each.startswith("#")]
    assert packages
    for each in packages:
        assert re.match(r"\S+==\S+ ", each), each
        assert "--hash=sha256:" in each, each
