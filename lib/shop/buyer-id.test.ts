import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { newVisitorId, signVisitorId, visitorOf } from "./buyer-id";
import { replaceSingletons, useFakes } from "./testing/use-fakes";

describe("visitor ids", () => {
  useFakes({ BUYER_SECRET: "a secret of 24 characters" });

  it("are proven by the cookie that the shop signed", async () => {
    const id = newVisitorId();
    assert.equal(await visitorOf(await signVisitorId(id)), id);
  });

  it("are not proven without a cookie, with another id's signature, or with a changed cookie", async () => {
    const cookie = await signVisitorId("visitor-a");
    const signature = cookie.slice("visitor-a.".length);
    const forged = [null, "", "visitor-a", "visitor-a.", `visitor-b.${signature}`, `${cookie}x`, `${cookie}.x`];
    for (const value of forged) assert.equal(await visitorOf(value), null, `expected no visitor for "${value}"`);
  });

  it("are the shop's only: a signature of any other id proves nothing", async () => {
    assert.equal(await visitorOf(await signVisitorId("buyer-1")), null);
  });
});

describe("the secret that signs visitor ids", () => {
  useFakes();
  let reads = 0;
  let failures = 0;
  let restore = () => {};
  beforeEach(() => {
    reads = 0;
    failures = 0;
    const labSecret = {
      createMany: async () => ({ count: 0 }),
      findUniqueOrThrow: async () => {
        reads += 1;
        if (reads <= failures) throw new Error("connection refused");
        return { value: "stored by another process" };
      },
    };
    restore = replaceSingletons({ "postgres.prisma": { labSecret }, "buyer-secret": undefined });
  });
  afterEach(() => restore());

  it("is the one in the database if the environment has none, and is read once", async () => {
    const cookie = await signVisitorId("visitor-a");
    assert.equal(await visitorOf(cookie), "visitor-a");
    assert.equal(reads, 1);
  });

  it("is read again after a failure", async () => {
    failures = 1;
    await assert.rejects(signVisitorId("visitor-a"), /connection refused/);
    assert.equal(await visitorOf(await signVisitorId("visitor-a")), "visitor-a");
  });
});
