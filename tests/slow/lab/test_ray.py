"""A sweep on a real Ray cluster of two nodes; ``make test-scale`` installs Ray."""

import os
import subprocess
import sys
from contextlib import ExitStack, contextmanager

import pyarrow.parquet as pq
import pytest

from tests.free_ports import free_base
from tests.unit.llm.conftest import until

RAY = os.environ.get("KEEPSAKE_RAY", "")
"""The folder in which Ray is installed, apart from Keepsake's dependencies."""
PLAN = """\
sources: [{probes: {loads: [20]}}]
memories: [sliding-window, full-context, "where:Where"]
seeds: [1, 2]
questions: 30
"""
STATUS = ("ray.scripts.scripts", "status", "--address")
WHERE = """
import os, pathlib, time
class Where:  # each node waits for the other one
    def __init__(self, given):
        here = pathlib.Path(__file__).parent
        node = os.environ["NODE"]
        (here / f"node_{node}").touch()
        until = time.monotonic() + 120
        while node != "none" and len([*here.glob("node_?")]) < 2 and time.monotonic() < until:
            time.sleep(0.1)
        raise RuntimeError("on node " + node)
    perceive = context = recall = rest = close = __init__
"""


@contextmanager
def node(environ, *options):
    """Run a node of the cluster. SIGTERM ends the node and its child processes."""
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus=1"]
    command += ["--min-worker-port=0", "--max-worker-port=0", *options]
    with subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.terminate()


@pytest.mark.skipif(not RAY, reason="Ray is not installed: `make test-scale` does")
def test_two_nodes_of_a_ray_cluster_get_the_results_of_one_process(tmp_path, environ):
    (tmp_path / "where.py").write_text(WHERE)
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    base = {**os.environ, **environ, "PYTHONPATH": f"{RAY}:{tmp_path}", "HOME": str(tmp_path)}
    address = f"127.0.0.1:{free_base()}"

    def run_module(*words):
        environ = base | {"RAY_ADDRESS": address, "NODE": "none"}
        command = [sys.executable, "-m", *map(str, words)]
        return subprocess.run(command, env=environ, stdout=subprocess.PIPE, text=True, check=False)

    def run_sweep(name, *options):
        ran = run_module("keepsake", "sweep", plan, "--out", tmp_path / name, *options)
        assert ran.returncode == 1, ran.stdout
        rows = pq.read_table(tmp_path / name / "results.parquet").to_pylist()
        timed = ("cell_seconds", "memory_seconds", "problem")
        return rows, [{k: v for k, v in row.items() if k not in timed} for row in rows]

    with ExitStack() as nodes:
        head = ("--head", f"--port={address.rpartition(':')[2]}", "--include-dashboard=false")
        join = (f"--address={address}",)
        for name, options, count in (("a", head, 1), ("b", join, 2)):
            process = nodes.enter_context(node(base | {"NODE": name}, *options))
            until(lambda n=count: run_module(*STATUS, address).stdout.count("node_") == n)
            assert process.poll() is None
        rows, found = run_sweep("ray", "--ray")
    assert found == run_sweep("alone")[1]
    problems = {row["problem"] for row in rows if row["memory"] == "where:Where"}
    assert {each.partition("on node ")[2][0] for each in problems} == {"a", "b"}
