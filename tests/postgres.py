"""A temporary PostgreSQL for tests: one user, one Unix socket in a temporary folder.

    python -m tests.postgres COMMAND …

runs a command with the tests of `tests/world` on it, or without it if PostgreSQL is not installed.
The cluster is a child of this process and ends with it, also after SIGKILL.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TEST_DATABASE = "KEEPSAKE_TEST_DATABASE_URL"
"""The environment variable with the URL of a database for `tests/world`. Its user may make more."""
_USER = "keepsake"
_WAIT_SECONDS = 60.0
_POLL_SECONDS = 0.05
_NOBODY = ("nobody", "nogroup")
_IS_ROOT = os.geteuid() == 0
# PostgreSQL refuses to run as root.
_UNPRIVILEGED = ["setpriv", "--pdeathsig=QUIT"] + (
    [f"--reuid={_NOBODY[0]}", f"--regid={_NOBODY[1]}", "--clear-groups"] if _IS_ROOT else []
)


def programs() -> Path | None:
    """Return the folder of the newest installed PostgreSQL, Debian's first. None without one."""
    if shutil.which("setpriv") is None:
        return None
    debian = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name)
    )
    found = shutil.which("initdb")
    elsewhere = [] if found is None else [Path(found).resolve().parent]
    return next((each for each in [*debian[::-1], *elsewhere] if (each / "initdb").exists()), None)


@contextmanager
def cluster() -> Iterator[str]:
    """Start a temporary cluster; yield the URL of its first database."""
    where = programs()
    if where is None:
        raise AssertionError("PostgreSQL is not installed")
    with tempfile.TemporaryDirectory(prefix="keepsake-postgres-") as name:
        folder = Path(name)
        if _IS_ROOT:
            shutil.chown(folder, *_NOBODY)
        _run(
            where / "initdb",
            "-D",
            folder / "data",
            "-U",
            _USER,
            "--auth=trust",
            "--no-sync",
            "--encoding=UTF8",
            "--no-locale",
        )
        with _serving(where / "postgres", folder):
            yield f"postgresql://{_USER}@/postgres?host={folder}"


def new_database(address: str, name: str, like: str = "template1") -> str:
    """Copy a database without open connections; return the URL of the copy."""
    import psycopg  # noqa: PLC0415 - optional: needed only with a cluster

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{like}"'.encode())
    head, _, host = address.rpartition("?")
    return f"{head.rpartition('/')[0]}/{name}?{host}"


@contextmanager
def _serving(server: Path, folder: Path) -> Iterator[None]:
    settings = {
        "listen_addresses": "",
        "unix_socket_directories": folder,
        "fsync": "off",
        "full_page_writes": "off",
        "max_connections": 50,
    }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*_UNPRIVILEGED, server, "-D", folder / "data", *options],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=folder,
        )
    try:
        _wait_for(process, server.with_name("pg_isready"), folder, log)
        yield
    finally:
        process.send_signal(signal.SIGQUIT)  # immediate shutdown: the data is not needed again
        process.wait()


def _wait_for(process: subprocess.Popen[bytes], ready: Path, folder: Path, log: Path) -> None:
    deadline = time.monotonic() + _WAIT_SECONDS
    while subprocess.run([ready, "-q", "-h", folder], check=False).returncode:
        if process.poll() is not None or time.monotonic() > deadline:
            raise AssertionError(f"PostgreSQL did not start:\n{log.read_text(errors='replace')}")
        time.sleep(_POLL_SECONDS)


def _run(*command: object) -> None:
    done = subprocess.run(
        [*_UNPRIVILEGED, *map(str, command)], capture_output=True, text=True, cwd="/", check=False
    )
    if done.returncode:
        raise AssertionError(done.stderr)


def main() -> int:
    """Run a command with a temporary cluster, and return its exit code."""
    with contextlib.ExitStack() as stack:
        environ = dict(os.environ)
        why = "it is not installed"
        if programs() is not None:
            try:
                environ[TEST_DATABASE] = stack.enter_context(cluster())
                why = ""
            except (AssertionError, OSError) as error:
                why = " ".join(str(error).split())
        if why:
            print(f"No PostgreSQL ({why}): tests/world runs on SQLite", flush=True)
        return subprocess.run(sys.argv[1:], env=environ, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
