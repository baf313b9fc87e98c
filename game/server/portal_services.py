"""What the Portal offers: encrypted connections.

Where this copy is given a certificate (``KEEPSAKE_TLS_CERT``, ``_KEY``), pages and web socket are
encrypted on their own ports; telnet is so on a port beside the plain one. Evennia has telnet over
TLS only, with a certificate of its own making.
"""

from __future__ import annotations

from typing import Any

from keepsake.paths import places

_HERE = places()


def start_plugin_services(portal: Any) -> None:
    """Evennia's Portal has made its services and not yet opened them: encrypt them."""
    if (certificate := _HERE.certificate) is None:
        return
    from twisted.application.internet import SSLServer  # noqa: PLC0415 - in the Portal alone
    from twisted.internet.ssl import CertificateOptions  # noqa: PLC0415 - likewise

    factory = CertificateOptions()  # with Twisted's choice of ciphers
    context = factory.getContext()  # the same one for all connections
    context.set_passwd_cb(lambda *_: b"")  # OpenSSL's own asks at the terminal
    context.use_certificate_chain_file(str(certificate.cert))
    context.use_privatekey_file(str(certificate.key))
    for service in list(portal):
        if service.name.startswith("EvenniaTelnet"):
            _, protocol = service.args  # the plain one stays
            encrypted = SSLServer(_HERE.ports.telnet_tls, protocol, factory, **service.kwargs)
        elif service.name.startswith(("EvenniaWebProxy", "EvenniaWebSocket")):
            # Twisted would note these in the context at each connection, which OpenSSL forbids once
            # it is in use; there is HTTP/1.1 and nothing to choose.
            service.args[1].acceptableProtocols = list
            service.disownServiceParent()
            encrypted = SSLServer(*service.args, factory, **service.kwargs)
        else:
            continue
        encrypted.setName(f"{service.name}-tls")
        encrypted.setServiceParent(portal)
