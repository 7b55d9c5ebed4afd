"""An agent for Isthmus in Python, with nothing but the standard library.

    AGENT_HTTP_SECRET=whsec_... python3 agent.py --port 8090
    AGENT=http:http://127.0.0.1:8090/events       # on the side of Isthmus, with the same AGENT_HTTP_SECRET

It counts calories: "bowl 600" adds 600, "goal 1800" moves the goal. What matters is around that: the signature is
checked before anything is read, an event that comes twice gets the same answer twice, and the state is whole each time.
"""

import argparse
import base64
import hashlib
import hmac
import json
import os
import re
import sqlite3
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BODY = 1 << 20
TOLERANCE = 300  # seconds that the two clocks may differ, delivery included


class Signature:
    """Standard Webhooks 1.0.0: HMAC-SHA256 over `id.timestamp.body`."""

    def __init__(self, secret: str):
        """Takes whsec_ and base64; several by commas while a secret is changed."""
        self.keys = [base64.b64decode(one.strip().removeprefix("whsec_"), validate=True) for one in secret.split(",")]
        if not all(self.keys):
            raise ValueError("the secret is empty")

    def is_valid(self, headers, body: bytes, now: float) -> bool:
        message_id = headers.get("webhook-id", "")
        timestamp = headers.get("webhook-timestamp", "")
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,128}", message_id) or not re.fullmatch(r"[0-9]{1,12}", timestamp):
            return False
        if abs(now - int(timestamp)) > TOLERANCE:
            return False
        signed = f"{message_id}.{timestamp}.".encode() + body
        expected = [b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in self.keys]
        given = headers.get("webhook-signature", "").encode("latin-1", "replace").split(b" ")[:10]
        # Every pair is compared, in a time that says nothing about where they differ.
        return any([hmac.compare_digest(one, other) for one in given for other in expected])


class Store:
    """What is remembered: each user's day, and the answer to each event, so that a second try gets the same."""

    def __init__(self, path: str):
        self.lock = threading.Lock()
        self.database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self.database.executescript(
            """
            CREATE TABLE IF NOT EXISTS users (handle TEXT PRIMARY KEY, model TEXT NOT NULL);
            CREATE TABLE IF NOT EXISTS answers (id TEXT PRIMARY KEY, answer TEXT NOT NULL, at REAL NOT NULL);
            """
        )

    def answer_once(self, event_id: str, handle: str, answer) -> dict:
        """The answer to this event; `answer(model)` is asked for it the first time only."""
        with self.lock:
            self.database.execute("BEGIN IMMEDIATE")
            try:
                known = self.database.execute("SELECT answer FROM answers WHERE id = ?", (event_id,)).fetchone()
                if known:
                    self.database.execute("COMMIT")
                    return json.loads(known[0])
                row = self.database.execute("SELECT model FROM users WHERE handle = ?", (handle,)).fetchone()
                model = json.loads(row[0]) if row else {"day": "", "meals": [], "goal": 2000}
                result = answer(model)
                self.database.execute("REPLACE INTO users VALUES (?, ?)", (handle, json.dumps(model)))
                self.database.execute("INSERT INTO answers VALUES (?, ?, ?)", (event_id, json.dumps(result), time.time()))
                self.database.execute("DELETE FROM answers WHERE at < ?", (time.time() - 3 * 86400,))
                self.database.execute("COMMIT")
                return result
            except BaseException:
                self.database.execute("ROLLBACK")
                raise


def respond(request: dict, model: dict) -> dict:
    """The agent itself: what happened, what is known of the user -> what to say and what to show."""
    event = request["event"]
    day = event["receivedAt"][:10]
    if model["day"] != day:
        model.update(day=day, meals=[])
    if event["kind"] == "sessionEnding":
        return {"island": {"end": state(model)}}
    if event["kind"] != "message" or event.get("isReconciled") or event.get("isOptOut"):
        return {}
    if event["chat"]["isGroup"] and not event.get("mentionsLine"):
        return {}
    before = total(model)
    text = event["text"].strip()[:500]
    number = re.search(r"\d{1,5}", text)
    if not number:
        reply = f"{before} of {model['goal']} cal today. Text me what you ate and its calories."
    elif re.match(r"goal\b", text, re.IGNORECASE):
        model["goal"] = max(500, min(int(number[0]), 10_000))
        reply = f"Your goal is {model['goal']} cal."
    elif len(model["meals"]) >= 100:
        reply = "That is more than I can count in a day."
    else:
        name = re.sub(r"~?\d+\s*(k?cal\w*)?", "", text).strip(" ,.:~-")[:40] or "Meal"
        model["meals"].append({"name": name[:1].upper() + name[1:], "calories": int(number[0])})
        reply = f"Logged {model['meals'][-1]['name']}: {total(model)} of {model['goal']} cal today."
    island = {"attributesType": "CoachAttributes", "show": state(model)}
    if before < model["goal"] <= total(model):
        island["alert"] = {"title": "Goal reached", "body": f"{total(model)} of {model['goal']} cal today"}
    return {"replies": [{"text": reply}], "island": island}


def total(model: dict) -> int:
    return sum(meal["calories"] for meal in model["meals"])


def state(model: dict) -> dict:
    """The whole content state: every field, the very types of the Swift struct, so no 600.0 where an Int belongs."""
    last = f"{model['meals'][-1]['name']} · {model['meals'][-1]['calories']} cal" if model["meals"] else "No meals yet"
    return {"calories": total(model), "goal": model["goal"], "streak": 1 if model["meals"] else 0, "lastMeal": last}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdigit() or int(length) > MAX_BODY:
            self.close_connection = True
            return self.answer(413, {"error": "the body is too large or has no length"})
        body = self.rfile.read(int(length))
        if not self.server.signature.is_valid(self.headers, body, time.time()):
            return self.answer(401, {"error": "the signature is not right"})
        try:
            request = json.loads(body)
            result = self.server.store.answer_once(
                self.headers["webhook-id"], request["user"]["handle"], lambda model: respond(request, model)
            )
        except (ValueError, KeyError, TypeError) as error:
            return self.answer(400, {"error": f"not an event as described: {type(error).__name__}"})
        self.answer(200, result)

    def answer(self, status: int, content: dict):
        body = json.dumps(content, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *arguments):
        """Says nothing: a log is no place for what people text."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address, secret: str, database: str):
        super().__init__(address, Handler)
        self.signature = Signature(secret)
        self.store = Store(database)


def main():
    parser = argparse.ArgumentParser(description="An agent for Isthmus.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8090, help="0 takes a free one")
    parser.add_argument("--database", default="agent.sqlite")
    arguments = parser.parse_args()
    server = Server((arguments.host, arguments.port), os.environ["AGENT_HTTP_SECRET"], arguments.database)
    print(f"listening on {server.server_address[0]}:{server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
