"""A team's own agent behind HTTP, as far as a test needs one."""

import base64
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()


@contextmanager
def endpoint(answer):
    """Yields the settings that make it the agent; `answer` makes the status and the reply to a text, or None, of an event.

    It is given the event and the handle of the user.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, reply = answer(asked["event"], asked["user"]["handle"])
            body = json.dumps({"replies": [{"text": reply}] if reply else []}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield {"AGENT": f"http:http://127.0.0.1:{server.server_port}/events", "AGENT_HTTP_SECRET": SECRET}
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
