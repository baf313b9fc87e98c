"""A named pipe in place of a file of the vault is refused; reading one would wait for ever."""

import os
from pathlib import Path

import pytest

from keepsake.errors import ConfigError
from keepsake.memory.config import CompactionConfig
from keepsake.tasks.task import load_prompts
from world.source import DataFile


@pytest.mark.parametrize(
    "load",
    [CompactionConfig.load, lambda path: load_prompts(path, ("system",), ()), DataFile],
    ids=["settings", "template", "world file"],
)
def test_a_pipe_as_a_configuration_file_is_refused(tmp_path: Path, load):
    path = tmp_path / "file.md"
    os.mkfifo(path)
    with pytest.raises(ConfigError, match="no regular file"):
        load(path)
