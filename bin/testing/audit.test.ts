import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { judgeAudit } from "./audit";

const report = (vulnerabilities: object) =>
  JSON.stringify({ auditReportVersion: 2, vulnerabilities, metadata: { dependencies: { total: 300 } } });

describe("judgeAudit", () => {
  it("is clean if no vulnerability is above moderate", () => {
    assert.deepEqual(judgeAudit(report({ left: { severity: "moderate", via: ["x"] } })), {
      kind: "clean",
      packages: 300,
    });
  });

  it("fails for high and critical vulnerabilities and names the packages", () => {
    const found = { left: { severity: "high" }, right: { severity: "critical" }, other: { severity: "low" } };
    assert.deepEqual(judgeAudit(report(found)), { kind: "flawed", findings: ["left (high)", "right (critical)"] });
  });

  it("has no result if the registry does not answer, with a reason that does not name the registry", () => {
    const refusals = [
      { message: "405 Method Not Allowed - POST https://registry.example/-/npm/v1/security", statusCode: 405 },
      { message: "request to https://registry.example failed, reason: getaddrinfo ENOTFOUND" },
      { error: { code: "ECONNREFUSED", summary: "" } },
    ];
    for (const refusal of refusals) {
      const verdict = judgeAudit(JSON.stringify(refusal));
      assert.equal(verdict.kind, "no-result");
      assert.doesNotMatch(JSON.stringify(verdict), /registry\.example/);
    }
  });

  it("fails if the output is empty, invalid or lists no packages", () => {
    for (const text of [
      "",
      "{",
      "{}",
      '{"message":"401 Unauthorized","statusCode":401}',
      report({}).replace("300", "0"),
    ]) {
      assert.equal(judgeAudit(text).kind, "failed", text);
    }
  });
});
