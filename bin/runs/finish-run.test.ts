import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, describe, it } from "node:test";
import { clientReport, runDocument } from "../../lib/runs/testing/run-fixture";
import { finishRun, LabApiError } from "./lab-client";

describe("finishing a run", () => {
  /** Answers to come; the last one is repeated. */
  let answers: { status: number; headers: Record<string, string>; body: object }[] = [];
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume();
    requests += 1;
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? { status: 500, headers: {}, body: {} };
    response.writeHead(answer.status, answer.headers).end(JSON.stringify(answer.body));
  });
  after(() => server.close());

  const unavailable = (headers: Record<string, string>) => ({
    status: 503,
    headers,
    body: { error: { code: "backend_unavailable", message: "PostgreSQL does not respond. Retry." } },
  });

  async function finish(next: typeof answers) {
    if (!server.listening) await once(server.listen(0, "127.0.0.1"), "listening");
    answers = next;
    requests = 0;
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return finishRun({ baseUrl }, "run-1", clientReport());
  }

  it("is repeated while the lab asks to retry", async () => {
    const retry = unavailable({ "retry-after": "0.01" });
    const document = runDocument();
    assert.equal((await finish([retry, retry, { status: 200, headers: {}, body: document }])).id, document.id);
    assert.equal(requests, 3);
  });

  it("is not repeated after another error", async () => {
    const rejected = finish([unavailable({})]);
    await assert.rejects(rejected, (error) => error instanceof LabApiError && error.code === "backend_unavailable");
    assert.equal(requests, 1);
  });
});
