"""People whose phones APNs does not know."""

import secrets

from stack import eventually, request


def push_to_unknown_tokens(stack, handle):
    """Somebody whose second phone has tokens that APNs refuses is pushed to; returns the tokens."""
    assert stack.control("POST", "say", {"from": handle, "text": "a canary of 600 cal"}).status == 200
    user = stack.state(handle)["userID"]
    key = stack.setting("token-registry", "REGISTRY_BACKEND_KEYS")
    registry = f"http://{stack.settings('token-registry')['HTTP_LISTEN']}"
    before = stack.metric("token-registry", "isthmus_registry_commands_total")
    tokens = [secrets.token_hex(32) for _ in range(2)]
    for path, token in zip(("start-token", "activities/canary-card"), tokens):
        body = {"attributesType": "CoachAttributes", "token": token, "environment": "production"}
        answer = request(
            "PUT", f"{registry}/v1/users/{user}/devices/canary/{path}", body, {"Authorization": f"Bearer {key}"})
        assert answer.status == 204, answer.body
    stack.text(handle, "a canary of 50 cal")
    # The pusher tries the other environment and gives the tokens up then.
    eventually("the registry has heard of it", lambda: stack.metric(
        "token-registry", "isthmus_registry_commands_total") > before)
    return tokens
