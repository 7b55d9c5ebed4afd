// node --test Examples/agent-node/

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { isSigned, makeServer, readKeys } from "./agent.mjs";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwJ7x9mK0p1q8=";

describe("the signature", () => {
    // The example of the Standard Webhooks specification.
    const keys = readKeys("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    const good = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    };
    const now = 1614265330;
    const check = (changes = {}, at = now, body = '{"test": 2432232314}') =>
        isSigned(keys, { ...good, ...changes }, Buffer.from(body), at);

    it("is accepted as published, also among others", () => {
        assert.ok(check());
        assert.ok(check({}, now + 300));
        assert.ok(check({ "webhook-signature": `v1,AAAA v1a,x ${good["webhook-signature"]}` }));
    });

    it("is refused when anything was changed", () => {
        assert.ok(!check({}, now, '{"test": 2432232315}'));
        assert.ok(!check({}, now + 301));
        assert.ok(!check({}, now - 301));
        assert.ok(!check({ "webhook-timestamp": "1614265331" }));
        for (const id of ["", "a.b", "other", "x".repeat(129)]) assert.ok(!check({ "webhook-id": id }), id);
        for (const time of ["", "+1614265330", "1614265330.0", "hello"]) {
            assert.ok(!check({ "webhook-timestamp": time }), time);
        }
        for (const signature of ["", "v1,", "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "v1,é"]) {
            assert.ok(!check({ "webhook-signature": signature }), signature);
        }
    });
});

describe("the agent", () => {
    let server;
    let folder;

    beforeEach(async () => {
        folder = mkdtempSync(join(tmpdir(), "agent-node-"));
        await start();
    });

    afterEach(async () => {
        await stop();
        rmSync(folder, { recursive: true });
    });

    function start() {
        server = makeServer({ secret, database: join(folder, "agent.json") });
        return new Promise((done) => server.listen(0, "127.0.0.1", done));
    }

    function stop() {
        server.closeAllConnections();
        return new Promise((done) => server.close(done));
    }

    async function post(content, id, { isForged = false } = {}) {
        const body = typeof content === "string" ? content : JSON.stringify(content);
        const timestamp = String(Math.floor(Date.now() / 1000));
        const code = createHmac("sha256", readKeys(secret)[0]).update(`${id}.${timestamp}.${body}`).digest("base64");
        const response = await fetch(`http://127.0.0.1:${server.address().port}/events`, {
            method: "POST",
            body,
            headers: {
                "webhook-id": id,
                "webhook-timestamp": timestamp,
                "webhook-signature": isForged ? `v1,${Buffer.alloc(32).toString("base64")}` : `v1,${code}`,
            },
        });
        return [response.status, await response.json()];
    }

    const message = (text, more = {}, handle = "+12025559876") => ({
        event: { id: "e", kind: "message", text, chat: { id: "c", isGroup: false }, parts: [], ...more },
        user: { handle, id: "user-42" },
        session: { id: "s", isNew: true, startedAt: "2026-02-05T19:31:13.736Z" },
        island: { attributesType: "ChecklistAttributes" },
    });

    it("adds, ticks off and says when all is done", async () => {
        let [status, answer] = await post(message("add milk"), "a");
        assert.equal(status, 200);
        assert.deepEqual(answer.replies, [{ text: "Added milk." }]);
        assert.deepEqual(answer.island.show, { title: "My list", done: 0, total: 1, next: "milk" });
        [, answer] = await post(message("done"), "b");
        assert.deepEqual(answer.island.show, { title: "My list", done: 1, total: 1, lastDone: "milk" });
        assert.equal(answer.island.alert.title, "All done");
    });

    it("counts an event that comes twice once, even after a restart", async () => {
        const first = await post(message("add milk"), "a");
        assert.deepEqual(await post(message("add milk"), "a"), first);
        await stop();
        await start();
        assert.deepEqual(await post(message("add milk"), "a"), first);
        const [, answer] = await post(message("list"), "b");
        assert.equal(answer.island.show.total, 1);
    });

    it("keeps users apart", async () => {
        await post(message("add milk"), "a");
        const [, answer] = await post(message("list", {}, "+12025550000"), "b");
        assert.equal(answer.island.show.total, 0);
    });

    it("ends the card with the session and is silent where it should be", async () => {
        const [, answer] = await post(message("", { kind: "sessionEnding" }), "a");
        assert.equal(answer.island.end.total, 0);
        assert.deepEqual(await post(message("", { kind: "reaction" }), "b"), [200, {}]);
        assert.deepEqual(await post(message("hi", { isReconciled: true }), "c"), [200, {}]);
        assert.deepEqual(await post(message("hi", { chat: { id: "g", isGroup: true } }), "d"), [200, {}]);
        assert.deepEqual(await post(message("STOP", { isOptOut: true }), "e"), [200, {}]);
    });

    it("refuses what is not signed, and what is signed and no event", async () => {
        assert.equal((await post(message("hi"), "a", { isForged: true }))[0], 401);
        for (const body of ["{", "[]", "{}", "null", '{"event":{"kind":"message"}}']) {
            assert.equal((await post(body, "b"))[0], 400, body);
        }
    });
});
