import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { type RunDocument, runDocumentSchema } from "../../lib/runs/document";

/** Runs k6 with load-tests/flash-sale.js against the lab at LAB_URL. The tests fail on a machine without k6. */

const LIMIT_MS = 90_000;

export interface K6Result {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function labUrl(): string {
  const url = process.env.LAB_URL;
  if (!url) throw new Error("LAB_URL is not set. Run these tests with npm test -- --stage k6, which starts a lab.");
  return url.replace(/\/+$/, "");
}

/**
 * @param onStart called with k6's process id
 * @throws Error if k6 cannot be started, or does not end in time
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
      reject(new Error(`k6 did not end within ${LIMIT_MS / 1_000} s\n${stdout}\n${stderr}`));
    }, LIMIT_MS);
    k6.once("error", (error) => {
      clearTimeout(timer);
      reject(
        new Error(
          `k6 cannot be started: ${error.message}. Run \`npm run k6\` to find or install it, or set K6_BINARY to its path.`,
        ),
      );
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

/** A run as the lab stores it. */
export async function fetchRun(id: string): Promise<RunDocument> {
  const response = await fetch(`${labUrl()}/api/runs/${id}`, { signal: AbortSignal.timeout(10_000) });
  return runDocumentSchema.parse(await response.json());
}

const HISTORY_ROUTE = "/api/node/runs/{id}/history";

/** How often each store node has served the history of a run, from its metrics. */
export async function historyFetches(): Promise<number[]> {
  const nodes = (process.env.LAB_NODES ?? "").split(",").map((node) => node.slice(node.indexOf("=") + 1));
  return Promise.all(
    nodes.map(async (url) => {
      const lines = (await (await fetch(`${url}/metrics`)).text()).split("\n");
      const counts = lines.filter((line) => line.startsWith("http_request_duration_seconds_count{"));
      const ofHistory = counts.filter((line) => line.includes(`route="${HISTORY_ROUTE}"`));
      return ofHistory.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
    }),
  );
}
