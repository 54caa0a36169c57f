import assert from "node:assert/strict";
import { type IncomingMessage, request } from "node:http";
import { after, before, describe, it } from "node:test";
import { requireEnv } from "../../support/lab-env";
import { createOwnDatabase, type OwnDatabase } from "../../support/own-database";
import { ShopNode } from "../../support/shop-node";

requireEnv("DATABASE_URL");

const TOKEN = "the admin token of two nodes";
const PROXY = "127.0.0.9";

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The address that the client connects from. */
  readonly from?: string;
}

describe("the admin token and its sessions", () => {
  let database: OwnDatabase;
  let nodes: readonly ShopNode[];
  before(async () => {
    database = await createOwnDatabase();
    const env = { DATABASE_URL: database.url, LAB_ADMIN_TOKEN: TOKEN, TRUSTED_PROXIES: PROXY };
    const start = (name: string) => ShopNode.start({ name, strategy: "sql-guarded", env });
    nodes = await Promise.all([start("session-a"), start("session-b")]);
  });
  after(async () => {
    for (const node of nodes ?? []) await node[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
  });

  async function send(at: number, { method, path, body, headers = {}, from = "127.0.0.1" }: Sent) {
    const url = new URL(path, nodes[at]?.url);
    const text = JSON.stringify(body);
    const all = { "content-type": "application/json", "content-length": text.length, ...headers };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { method, headers: all, localAddress: from, agent: false, timeout: 20_000 };
      request(url, options, resolve).on("error", reject).end(text);
    });
    answer.resume();
    return { status: answer.statusCode, headers: answer.headers };
  }

  const logIn = (at: number, headers: Sent["headers"] = {}) =>
    send(at, { method: "POST", path: "/api/session", body: { token: TOKEN }, headers });
  const change = (at: number, headers: Sent["headers"], from?: string) =>
    send(at, {
      method: "PUT",
      path: "/api/node/strategy",
      body: { id: "sql-guarded" },
      headers,
      ...(from ? { from } : {}),
    });
  const cookieOf = ({ headers }: Awaited<ReturnType<typeof logIn>>) => String(headers["set-cookie"]);
  const sessionOf = (cookie: string) => /lab_session=([^;]*)/.exec(cookie)?.[1] ?? "";
  const bySession = (value: string) => ({ cookie: `lab_session=${value}` });

  it("gives each login a random cookie that every node accepts, and stores only its digest", async () => {
    const cookies = [cookieOf(await logIn(0)), cookieOf(await logIn(0))];
    const [first = "", second = ""] = cookies.map(sessionOf);
    assert.match(first, /^[A-Za-z0-9_-]{43}$/);
    assert.notEqual(first, second);
    assert.match(cookies[0] ?? "", /; Path=\/; HttpOnly; SameSite=Strict; Max-Age=28800$/);
    for (const at of [0, 1]) assert.equal((await change(at, bySession(first))).status, 200);
    const { rows } = await database.pool.query<{ hash: string }>("SELECT hash FROM admin_sessions");
    assert.equal(rows.length, 2);
    assert.ok(rows.every(({ hash }) => /^[0-9a-f]{64}$/.test(hash) && !cookies.join().includes(hash)));
    assert.equal((await change(0, bySession(rows[0]?.hash ?? ""))).status, 401);
  });

  it("marks the cookie Secure if the client uses HTTPS", async () => {
    assert.match(cookieOf(await logIn(0, { "x-forwarded-proto": "https" })), /; Secure$/);
    const host = new URL(nodes[0]?.url ?? "").host;
    assert.match(cookieOf(await logIn(0, { origin: `https://${host}` })), /; Secure$/);
  });

  it("ends a session at every node when it is logged out or expires", async () => {
    const [left, expired] = [sessionOf(cookieOf(await logIn(0))), sessionOf(cookieOf(await logIn(0)))];
    const out = await send(1, { method: "DELETE", path: "/api/session", body: {}, headers: bySession(left) });
    assert.match(cookieOf(out), /^lab_session=; .*Max-Age=0/);
    assert.equal((await change(0, bySession(left))).status, 401);
    assert.equal((await change(0, bySession(expired))).status, 200);
    await database.pool.query("UPDATE admin_sessions SET expires_at = now() - interval '1 second'");
    for (const at of [0, 1]) assert.equal((await change(at, bySession(expired))).status, 401);
    await logIn(0);
    const { rowCount } = await database.pool.query("SELECT 1 FROM admin_sessions");
    assert.equal(rowCount, 1, "expected a login to delete expired sessions");
  });

  const right = { authorization: `Bearer ${TOKEN}` };
  /** Sends 30 different wrong tokens. */
  const guessOften = (from: string, headersOf: (at: number) => Sent["headers"] = () => ({})) =>
    Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        change(0, { authorization: `Bearer wrong token ${at}`, ...headersOf(at) }, from),
      ),
    );

  it("throttles wrong tokens of one address, in the header as at the login, and never those of another", async () => {
    const attacker = "127.0.0.2";
    const refused = (await guessOften(attacker)).filter(({ status }) => status === 429);
    assert.ok(refused.length >= 15, `expected most of 30 guesses to be throttled, found ${refused.length}`);
    assert.ok(refused.every(({ headers }) => Number(headers["retry-after"]) >= 1));
    const login = await send(0, { method: "POST", path: "/api/session", body: { token: "wrong" }, from: attacker });
    assert.equal(login.status, 429);
    const others = await Promise.all(Array.from({ length: 30 }, () => change(0, right)));
    assert.ok(
      others.every(({ status }) => status === 200),
      "expected no right token of another address to be refused",
    );
    assert.equal((await logIn(0)).status, 200);
  });

  it("throttles each client behind a trusted proxy on its own", async () => {
    const behind = (address: string) => ({ "x-forwarded-for": address });
    const guesses = await guessOften(PROXY, () => behind("198.51.100.1"));
    assert.ok(guesses.some(({ status }) => status === 429));
    assert.equal((await change(0, { ...right, ...behind("198.51.100.1") }, PROXY)).status, 429);
    assert.equal((await change(0, { ...right, ...behind("198.51.100.2") }, PROXY)).status, 200);
    assert.equal((await change(0, { ...right, ...behind("198.51.100.1, 198.51.100.3") }, PROXY)).status, 200);
  });

  it("ignores X-Forwarded-For of other clients, which would else have a limit for each address that they invent", async () => {
    const statuses = await guessOften("127.0.0.5", (at) => ({ "x-forwarded-for": `198.51.100.${100 + at}` }));
    const refused = statuses.filter(({ status }) => status === 429);
    assert.ok(refused.length >= 15, `expected most of 30 guesses to be throttled, found ${refused.length}`);
  });

  it("accepts an open session while the tokens of its address are throttled", async () => {
    const session = sessionOf(cookieOf(await logIn(0)));
    const shared = "127.0.0.6";
    await guessOften(shared);
    assert.equal((await change(0, right, shared)).status, 429);
    assert.equal((await change(0, bySession(session), shared)).status, 200);
  });
});
