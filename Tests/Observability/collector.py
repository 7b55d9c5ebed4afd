"""A stand-in for an OpenTelemetry collector: takes OTLP over HTTP in JSON and keeps the spans."""

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

IDS = ("traceId", "spanId", "parentSpanId")


def parse(body):
    """Reads a request by OpenTelemetry's own schema; what is not in it is an error.

    OTLP's JSON has ids in hexadecimal, where the usual JSON of protobuf has Base64.
    """
    told = json.loads(body)
    for resource in told["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for name in IDS:
                    if name in span:
                        span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    return json_format.ParseDict(told, ExportTraceServiceRequest())


def plain(attributes):
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}


class Span:
    def __init__(self, resource, span):
        self.service = resource["service.name"]
        self.resource = resource
        self.name = span.name
        self.kind = span.kind
        self.trace = span.trace_id.hex()
        self.id = span.span_id.hex()
        self.parent = span.parent_span_id.hex()
        self.start = span.start_time_unix_nano
        self.end = span.end_time_unix_nano
        self.attributes = plain(span.attributes)
        self.failed = span.status.code == 2

    def __repr__(self):
        return f"{self.service}: {self.name} ({self.id} under {self.parent or 'none'})"


class Collector:
    def __init__(self):
        self._lock = threading.Lock()
        self._spans = []
        self.bodies = []
        self.errors = []
        self._server = None
        self.port = 0

    def start(self):
        collector = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                if collector._server is None:
                    # A connection from before: a collector that has ended would not answer on it either.
                    self.close_connection = True
                    return
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector._take(self.path, self.headers["Content-Type"], body)
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self):
        server, self._server = self._server, None
        server.shutdown()
        server.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def _take(self, path, kind, body):
        try:
            assert (path, kind) == ("/v1/traces", "application/json"), (path, kind)
            spans = [
                Span(plain(resource.resource.attributes), span) for resource in parse(body).resource_spans
                for scope in resource.scope_spans for span in scope.spans]
        except Exception as error:
            with self._lock:
                self.errors.append(f"{error!r}: {body[:2000]}")
            return
        with self._lock:
            self.bodies.append(body.decode())
            self._spans += spans

    def trace(self, trace_id):
        """All spans of a trace."""
        with self._lock:
            return [span for span in self._spans if span.trace == trace_id]

    def trace_of(self, message_id):
        """All spans of the trace in which the message with this id was sent."""
        with self._lock:
            spans = list(self._spans)
        traces = {span.trace for span in spans if span.attributes.get("messaging.message.id") == message_id}
        assert len(traces) <= 1, "one message, one trace"
        return [span for span in spans if span.trace in traces]
