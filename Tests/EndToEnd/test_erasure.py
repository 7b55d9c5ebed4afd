"""What is left of a user whom the customer's backend has erased: nothing, in both databases."""

import sqlite3
from urllib.parse import quote

from stack import eventually, request
from test_loop import replies, say

TABLES = {
    "agent": ["user_state", "replaced_state", "deferred_event", "outbox"],
    "token-registry": [f"registry_{name}" for name in (
        "users", "handles", "former_handles", "start_tokens", "activities", "outbox")],
}


def rows(stack):
    """How many rows each table has that could hold something of a user."""
    counts = {}
    for service, tables in TABLES.items():
        path = stack.setting(service, "DATABASE_URL").removeprefix("sqlite:")
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
        counts |= {table: database.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in tables}
        database.close()
    return counts


def call(stack, method, path, body=None):
    key = stack.secret_file("backend-key").read_text().strip()
    url = f"http://{stack.setting('token-registry', 'HTTP_LISTEN')}/v1/users/{path}"
    return request(method, url, body, {"Authorization": f"Bearer {key}"})


def test_an_erased_user_leaves_nothing(stack, handle):
    before = eventually("nothing waits to go out", lambda: (counts := rows(stack))["outbox"] == 0 and counts)
    say(stack, handle, "600 cal")
    user = quote(stack.state(handle)["userID"])
    email = f"gone{handle[1:]}@example.com"
    # Their state moves with them, and stays behind when no handle is left.
    for handles in ([email], []):
        assert call(stack, "PUT", f"{user}/handles", {"handles": handles}).status == 204
    assert call(stack, "GET", user).json()["formerHandles"] == [handle, email]
    eventually("their state is there still", lambda: rows(stack)["user_state"] > before["user_state"])
    assert call(stack, "DELETE", user).status == 204
    eventually("nothing is left", lambda: rows(stack) == before)
    assert call(stack, "GET", user).status == 404
    # Whoever writes from there now is nobody that is known: there is a reply, and no Island moves.
    heard = len(replies(stack, handle))
    stack.text(handle, "50 cal", onboard=False)
    eventually("there is a reply", lambda: len(replies(stack, handle)) > heard)
    assert "650" not in replies(stack, handle)[-1]
    assert stack.island(handle)["calories"] == 600
