"""A certificate that cannot be used is refused before anything starts, with the cure."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from keepsake.cli.world import check_certificate as check
from keepsake.errors import KeepsakeError
from keepsake.paths import Certificate
from tests.slow.cli.conftest import make_copy


def pair(folder: Path, *, days: int = 2, passphrase: bytes = b"") -> Certificate:
    """A fresh certificate of its own, good until so many days from now, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    ends = datetime.now(UTC) + timedelta(days=days)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name)
    builder = builder.public_key(key.public_key()).serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(ends - timedelta(days=30)).not_valid_after(ends)
    lock = serialization.BestAvailableEncryption(passphrase) if passphrase else None
    folder.mkdir(exist_ok=True)
    made = Certificate(folder / "cert.pem", folder / "key.pem")
    made.cert.write_bytes(
        builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    )
    made.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            lock or serialization.NoEncryption(),
        )
    )
    return made


def _torn(made: Certificate) -> None:
    made.cert.write_bytes(made.cert.read_bytes()[:100])


def _of_another(made: Certificate) -> None:
    made.key.write_bytes(pair(made.key.parent / "other").key.read_bytes())


FAULTS: dict[str, Callable[[Certificate], object]] = {
    "No such file": lambda made: made.key.unlink(),
    "no certificate with its key": _torn,
    "do(es)? not match|mismatch": _of_another,
}


@pytest.mark.parametrize("said", FAULTS)
def test_what_is_wrong_is_said_with_the_cure(tmp_path, said):
    made = pair(tmp_path)
    FAULTS[said](made)
    with pytest.raises(KeepsakeError, match=f"(?i){said}") as refused:
        check(made)
    assert "KEEPSAKE_TLS_CERT" in refused.value.cure


def test_one_that_ran_out_and_a_locked_key_are_refused(tmp_path):
    with pytest.raises(KeepsakeError, match="ran out on 20"):
        check(pair(tmp_path, days=-1))
    with pytest.raises(KeepsakeError, match="no certificate with its key"):
        check(pair(tmp_path, passphrase=b"secret"))


def test_the_command_refuses_before_anything_starts(tmp_path):
    made = pair(tmp_path / "pair")
    _of_another(made)
    copy = make_copy(tmp_path, KEEPSAKE_TLS_CERT=str(made.cert), KEEPSAKE_TLS_KEY=str(made.key))
    started = copy.keepsake("start")
    assert started.returncode == 1
    assert "Point KEEPSAKE_TLS_CERT to" in " ".join(started.stderr.split())
    assert not copy.here.home.exists()
