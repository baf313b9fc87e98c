"""Encrypted connections, where this copy is given a certificate (``KEEPSAKE_TLS_CERT``, ``_KEY``).

Pages and web socket are then encrypted on their own ports; telnet is so on a port beside the
plain one. Evennia has telnet over TLS only, with a certificate of its own making.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from keepsake.paths import Certificate, places

if TYPE_CHECKING:
    from OpenSSL.SSL import Context


class RenewedContext:
    """Twisted's context factory: takes a renewed certificate over without a restart."""

    def __init__(self, certificate: Certificate) -> None:
        self._certificate = certificate
        self._stamp = self._stamped()
        self._context = _load(certificate)

    def getContext(self) -> Context:  # noqa: N802 - Twisted's name, asked for each connection
        """The context of the newest pair of files that could be used."""
        stamp = self._stamped()
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._context = _load(self._certificate)
            except Exception as error:  # OpenSSL's; the old one still serves
                from twisted.logger import Logger  # noqa: PLC0415 - in the Portal alone

                Logger().error("[Error] The new certificate is of no use: {error}", error=error)
        return self._context

    def _stamped(self) -> tuple[int, ...]:
        return tuple(map(_changed_at, (self._certificate.cert, self._certificate.key)))


def _changed_at(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:  # between two versions of it
        return 0


def _load(certificate: Certificate) -> Context:
    from twisted.internet.ssl import CertificateOptions  # noqa: PLC0415 - in the Portal alone

    context: Context = CertificateOptions().getContext()  # with Twisted's choice of ciphers
    context.set_passwd_cb(lambda *_: b"")  # OpenSSL's own asks at the terminal
    context.use_certificate_chain_file(str(certificate.cert))
    context.use_privatekey_file(str(certificate.key))
    context.check_privatekey()
    return context


def start_plugin_services(portal: Any) -> None:
    """Evennia's Portal has made its services and not yet opened them: encrypt them."""
    here = places()
    if here.certificate is None:
        return
    from twisted.application.internet import SSLServer  # noqa: PLC0415 - in the Portal alone

    context = RenewedContext(here.certificate)
    for service in list(portal):
        if service.name.startswith("EvenniaTelnet"):
            _, factory = service.args  # the plain one stays
            encrypted = SSLServer(here.ports.telnet_tls, factory, context, **service.kwargs)
        elif service.name.startswith(("EvenniaWebProxy", "EvenniaWebSocket")):
            # Twisted would note these in the context at each connection, which OpenSSL forbids once
            # it is in use; there is HTTP/1.1 and nothing to choose.
            service.args[1].acceptableProtocols = list
            service.disownServiceParent()
            encrypted = SSLServer(*service.args, context, **service.kwargs)
        else:
            continue
        encrypted.setName(f"{service.name}-tls")
        encrypted.setServiceParent(portal)
