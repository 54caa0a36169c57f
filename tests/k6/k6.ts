import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { type RunDocument, runDocumentSchema } from "../../lib/runs/document";

/** Runs the real k6 on the real script against the lab at LAB_URL. A machine without k6 fails these tests. */

const LIMIT_MS = 90_000;

export interface K6Result {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function labUrl(): string {
  const url = process.env.LAB_URL;
  if (!url) throw new Error("LAB_URL is not set: `npm test` starts a lab and sets it");
  return url.replace(/\/+$/, "");
}

/**
 * @param onStart is handed k6's process id
 * @throws Error when k6 cannot be run, or is not done within its bound
 */
export function runK6(
  settings: Readonly<Record<string, string>>,
  onStart: (pid: number) => void = () => undefined,
): Promise<K6Result> {
  const flags = Object.entries({ BASE_URL: labUrl(), ...settings }).flatMap(([name, value]) => [
    "-e",
    `${name}=${value}`,
  ]);
  const adminToken = process.env.LAB_ADMIN_TOKEN;
  return new Promise((resolve, reject) => {
    const k6 = spawn(
      process.env.K6_BINARY || "k6",
      ["run", "--quiet", "--no-color", "--no-usage-report", ...flags, "load-tests/flash-sale.js"],
      {
        env: { ...process.env, ...(adminToken ? { ADMIN_TOKEN: adminToken } : {}) },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    if (k6.pid !== undefined) onStart(k6.pid);
    let stdout = "";
    let stderr = "";
    k6.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    k6.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    const timer = setTimeout(() => {
      k6.kill("SIGKILL");
      reject(new Error(`k6 was not done within ${LIMIT_MS / 1_000} s\n${stdout}\n${stderr}`));
    }, LIMIT_MS);
    k6.once("error", (error) => {
      clearTimeout(timer);
      reject(new Error(`k6 cannot be run: ${error.message}. \`npm run k6\` finds or installs it; K6_BINARY names it`));
    });
    k6.once("close", (exitCode) => {
      clearTimeout(timer);
      resolve({ exitCode, stdout, stderr });
    });
  });
}

export async function readDocument(file: string): Promise<RunDocument> {
  return runDocumentSchema.parse(JSON.parse(await readFile(file, "utf8")));
}

/** Opens a run with these fields of `POST /api/runs`. */
export async function openRun(fields: object): Promise<RunDocument> {
  const adminToken = process.env.LAB_ADMIN_TOKEN;
  const response = await fetch(`${labUrl()}/api/runs`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(adminToken ? { authorization: `Bearer ${adminToken}` } : {}),
    },
    body: JSON.stringify(fields),
    signal: AbortSignal.timeout(10_000),
  });
  return runDocumentSchema.parse(await response.json());
}

/** The lab's own copy of a run. */
export async function fetchRun(id: string): Promise<RunDocument> {
  const response = await fetch(`${labUrl()}/api/runs/${id}`, { signal: AbortSignal.timeout(10_000) });
  return runDocumentSchema.parse(await response.json());
}
