"""The memory that the guide builds is one."""

import re
import subprocess
import sys
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "memories.md"


def test_the_guides_memory_conforms(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S)
    lines = [line for line in code.splitlines() if line.strip()]
    assert len(lines) <= 32
    (tmp_path / "overlap.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "game.memories.conformance", "overlap:Overlap"]
    repository = str(GUIDE.parents[1])
    found = subprocess.run(
        command,
        cwd=tmp_path,
        env={"PYTHONPATH": f"{tmp_path}:{repository}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    said = found.stdout.strip()
    assert said in GUIDE.read_text(encoding="utf-8"), said
