"""A receiver of OpenTelemetry's spans over HTTP, as a collector is: it keeps what it gets."""

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class OtlpReceiver:
    """Takes spans as protobuf at ``address``; a context manager."""

    def __init__(self):
        self.spans, self.services, self.paths = [], set(), set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                receiver._take(self.path, ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def _take(self, path, request):
        self.paths.add(path)
        for each in request.resource_spans:
            self.services |= {
                a.value.string_value for a in each.resource.attributes if a.key == "service.name"
            }
            self.spans += [span for scope in each.scope_spans for span in scope.spans]

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


def attributes(span):
    """The attributes of a span, by name."""
    return {each.key: _value(each.value) for each in span.attributes}


def _value(value):
    return getattr(value, value.WhichOneof("value"))
