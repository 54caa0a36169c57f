import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { answers } from "../../../lib/services/service-state";
import { serverKinds } from "../../../servers/all-servers";
import { endpointsOf } from "../../../servers/server-kind";

describe("the greeting of a server", () => {
  for (const kind of serverKinds) {
    it(`is answered by ${kind.label}`, async () => {
      const endpoints = endpointsOf(kind, process.env[kind.variable] ?? "");
      assert.notEqual(endpoints.length, 0, `expected an address in ${kind.variable}`);
      for (const endpoint of endpoints) assert.equal(await answers(endpoint, kind.greeting, 5_000), true);
    });
  }
});
