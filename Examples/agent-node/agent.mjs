// An agent for Isthmus in JavaScript, for Node 18 or newer, without any package.
//
//     AGENT_HTTP_SECRET=whsec_... PORT=8090 node agent.mjs
//     AGENT=http:http://127.0.0.1:8090/events    # on the side of Isthmus, with the same AGENT_HTTP_SECRET
//
// It keeps a checklist: "add milk", "done", "list". What matters is around that: the signature is checked before
// anything is read, an event that comes twice gets the same answer twice, and the state is whole each time. Isthmus
// has to be told the kind of Island: AGENT_KIND=ChecklistAttributes.

import { createHmac, timingSafeEqual } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";

const maxBody = 1 << 20;
const tolerance = 300; // seconds that the two clocks may differ, delivery included
const rememberedAnswers = 1000;

/** Reads "whsec_" and base64; several by commas while a secret is changed. */
export function readKeys(secret) {
    const keys = secret.split(",").map((one) => Buffer.from(one.trim().replace(/^whsec_/, ""), "base64"));
    if (keys.some((key) => key.length === 0)) throw new Error("the secret is empty");
    return keys;
}

/** Standard Webhooks 1.0.0: HMAC-SHA256 over `id.timestamp.body`. */
export function isSigned(keys, headers, body, now) {
    const id = headers["webhook-id"] ?? "";
    const timestamp = headers["webhook-timestamp"] ?? "";
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(id) || !/^[0-9]{1,12}$/.test(timestamp)) return false;
    if (Math.abs(now - Number(timestamp)) > tolerance) return false;
    const given = (headers["webhook-signature"] ?? "").split(" ").slice(0, 10).map((one) => Buffer.from(one));
    let isGood = false;
    for (const key of keys) {
        const code = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
        const expected = Buffer.from(`v1,${code}`);
        for (const one of given) {
            // Every pair is compared, in a time that says nothing about where they differ.
            if (one.length === expected.length && timingSafeEqual(one, expected)) isGood = true;
        }
    }
    return isGood;
}

/** What is remembered: each user's list, and the last answers, so that a second try of an event gets the same. */
export class Store {
    constructor(path) {
        this.path = path;
        this.data = { users: {}, answers: [] };
        try {
            this.data = JSON.parse(readFileSync(path, "utf8"));
        } catch (error) {
            if (error.code !== "ENOENT") throw error;
        }
    }

    /** The answer to this event; `answer(model)` is asked for it the first time only. */
    answerOnce(id, handle, answer) {
        const known = this.data.answers.find((one) => one.id === id);
        if (known) return known.answer;
        const model = structuredClone(this.data.users[handle] ?? { title: "My list", items: [] });
        const result = answer(model);
        const answers = [...this.data.answers, { id, answer: result }].slice(-rememberedAnswers);
        this.save({ users: { ...this.data.users, [handle]: model }, answers });
        return result;
    }

    /** On the disk first: an answer that was given is not forgotten. */
    save(data) {
        mkdirSync(dirname(this.path), { recursive: true });
        writeFileSync(`${this.path}.new`, JSON.stringify(data), { mode: 0o600, flush: true });
        renameSync(`${this.path}.new`, this.path);
        this.data = data;
    }
}

/** The agent itself: what happened, what is known of the user → what to say and what to show. */
export function respond({ event }, model) {
    if (event.kind === "sessionEnding") return { island: { end: stateOf(model) } };
    if (event.kind !== "message" || event.isReconciled || event.isOptOut) return {};
    if (event.chat.isGroup && !event.mentionsLine) return {};
    const text = event.text.trim().slice(0, 500);
    const wasDone = isDone(model);
    const [, added] = /^add\s+(.+)/is.exec(text) ?? [];
    const next = model.items.find((item) => !item.done);
    let reply;
    if (added && model.items.length >= 50) {
        reply = "The list is full.";
    } else if (added) {
        model.items.push({ text: added.slice(0, 60), done: false });
        reply = `Added ${model.items.at(-1).text}.`;
    } else if (/^(done|did)\b/i.test(text) && next) {
        next.done = true;
        model.last = next.text;
        reply = isDone(model) ? "All done!" : `Done: ${next.text}.`;
    } else {
        const lines = model.items.map((item) => `${item.done ? "✓" : "○"} ${item.text}`);
        reply = lines.length ? lines.join("\n") : "The list is empty. Text \"add\" and something to do.";
    }
    const island = { attributesType: "ChecklistAttributes", show: stateOf(model) };
    if (!wasDone && isDone(model)) island.alert = { title: "All done", body: model.title };
    return { replies: [{ text: reply }], island };
}

const isDone = (model) => model.items.length > 0 && model.items.every((item) => item.done);

/** The whole content state. An optional field without a value is left out: undefined does that, null would not. */
function stateOf(model) {
    return {
        title: model.title,
        done: model.items.filter((item) => item.done).length,
        total: model.items.length,
        next: model.items.find((item) => !item.done)?.text,
        lastDone: model.last,
    };
}

export function makeServer({ secret, database }) {
    const keys = readKeys(secret);
    const store = new Store(database);
    return createServer({ requestTimeout: 30_000 }, (request, response) => {
        const chunks = [];
        let size = 0;
        request.on("data", (chunk) => {
            size += chunk.length;
            if (size <= maxBody) chunks.push(chunk);
        });
        request.on("end", () => {
            const [status, content] = answerTo(request, Buffer.concat(chunks), size);
            response.writeHead(status, { "Content-Type": "application/json" });
            response.end(JSON.stringify(content));
        });
    });

    function answerTo(request, body, size) {
        if (request.method !== "POST") return [405, { error: "events are posted" }];
        if (size > maxBody) return [413, { error: "the body is too large" }];
        if (!isSigned(keys, request.headers, body, Date.now() / 1000)) {
            return [401, { error: "the signature is not right" }];
        }
        let event;
        try {
            event = JSON.parse(body);
            if (typeof event.event.kind !== "string" || typeof event.user.handle !== "string") throw new TypeError();
        } catch {
            return [400, { error: "not an event as described" }];
        }
        try {
            const id = request.headers["webhook-id"];
            return [200, store.answerOnce(id, event.user.handle, (model) => respond(event, model))];
        } catch (error) {
            // Isthmus tries again. The text of the event stays out of the log.
            console.error(`event ${request.headers["webhook-id"]} failed: ${error.name}`);
            return [500, { error: "failed" }];
        }
    }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
    const server = makeServer({
        secret: process.env.AGENT_HTTP_SECRET ?? "",
        database: process.env.DATABASE ?? "./agent.json",
    });
    server.listen(Number(process.env.PORT ?? 8090), process.env.HOST ?? "127.0.0.1", () => {
        const { address, port } = server.address();
        console.log(`listening on ${address}:${port}`);
    });
}
