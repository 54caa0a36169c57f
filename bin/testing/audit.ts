import { z } from "zod";
import { runCommand } from "../../servers/commands";
import { ROOT } from "../supervisor/paths";
import type { StageContext } from "./stages";
import { EMPTY_TALLY, failure, type Tally } from "./tally";

/** `npm audit` as a check: it fails for a package with a vulnerability of level high or critical, development packages included. */

const NAME = "npm audit at high and critical";
const LIMIT_MS = 60_000;

const advisorySchema = z.object({ severity: z.string(), via: z.array(z.unknown()).default([]) });
const reportSchema = z.object({
  vulnerabilities: z.record(z.string(), advisorySchema),
  metadata: z.object({ dependencies: z.object({ total: z.int().min(1) }) }),
});
/** What npm prints when the registry gives no audit result. */
const refusalSchema = z.object({
  message: z.string().optional(),
  statusCode: z.int().optional(),
  error: z.object({ code: z.string().nullish(), summary: z.string().optional() }).optional(),
});

/** A registry that has no such endpoint, is down, or cannot be reached. */
const UNAVAILABLE_STATUS = new Set([404, 405, 501, 502, 503, 504]);
const UNREACHABLE = /ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|network|offline/i;

export type AuditVerdict =
  | { readonly kind: "clean"; readonly packages: number }
  | { readonly kind: "flawed"; readonly findings: readonly string[] }
  /** Neither a pass nor a failure; the summary says that packages were not checked. */
  | { readonly kind: "no-result"; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string };

/** @param stdout of `npm audit --json` */
export function judgeAudit(stdout: string): AuditVerdict {
  let value: unknown;
  try {
    value = JSON.parse(stdout);
  } catch {
    return { kind: "failed", reason: "npm audit printed no JSON" };
  }
  const report = reportSchema.safeParse(value);
  if (report.success) {
    const { vulnerabilities, metadata } = report.data;
    const serious = Object.entries(vulnerabilities).filter(([, { severity }]) => /^(high|critical)$/.test(severity));
    if (serious.length === 0) return { kind: "clean", packages: metadata.dependencies.total };
    return { kind: "flawed", findings: serious.map(([name, { severity }]) => `${name} (${severity})`) };
  }
  const { message = "", statusCode = 0, error } = refusalSchema.catch({}).parse(value);
  const why = [message, error?.summary, error?.code].filter(Boolean).join(", ").slice(0, 200);
  if (UNAVAILABLE_STATUS.has(statusCode) || UNREACHABLE.test(why)) {
    return { kind: "no-result", reason: why.replace(/https?:\/\/\S+/g, "the registry") };
  }
  return { kind: "failed", reason: why || "npm audit printed no report" };
}

export async function runAudit({ signal, output }: Pick<StageContext, "signal" | "output">): Promise<Tally> {
  const args = ["audit", "--json", "--audit-level=high", "--fetch-retries=0", "--fetch-timeout=20000"];
  const { stdout } = await runCommand("npm", args, { cwd: ROOT, timeoutMs: LIMIT_MS, signal });
  const verdict = judgeAudit(stdout);
  switch (verdict.kind) {
    case "clean":
      output.write(`✔ ${NAME}: no vulnerability in ${verdict.packages} packages\n`);
      return { ...EMPTY_TALLY, passed: 1 };
    case "no-result": {
      const line = `npm audit: not checked (the registry does not answer audits: ${verdict.reason})`;
      output.write(`﹣ ${line}\n`);
      return { ...EMPTY_TALLY, notChecked: [line] };
    }
    default: {
      const why = verdict.kind === "flawed" ? verdict.findings.join(", ") : verdict.reason;
      output.write(`✖ ${NAME}: ${why}\n`);
      return failure(`failed: ${NAME}: ${why}`);
    }
  }
}
