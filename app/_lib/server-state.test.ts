import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { refreshEveryMs, serverStateOf, serversText } from "./server-state";
import type { CatalogueService } from "./strategy-catalogue";

const service = (changes: Partial<CatalogueService>): CatalogueService => ({
  id: "redis",
  label: "Redis",
  present: false,
  checking: false,
  reason: null,
  ...changes,
});

describe("the state of a server", () => {
  it("is checking, not unavailable, until the lab knows", () => {
    const states = [service({ present: true }), service({ checking: true }), service({})];
    assert.deepEqual(
      states.map((one) => serverStateOf(one, true)),
      ["available", "checking", "unavailable"],
    );
    assert.equal(serverStateOf(service({ checking: true }), false), "unavailable");
  });

  it("is counted in words", () => {
    assert.equal(serversText(["available", "available"]), "2 of 2 servers");
    assert.equal(serversText(["available", "unavailable"]), "1 of 2 servers");
    assert.equal(serversText(["available", "checking"]), "checking 1 of 2");
  });

  it("is asked for more often while a server is checked", () => {
    assert.ok(refreshEveryMs([service({ checking: true })]) < refreshEveryMs([service({})]));
  });
});
