/** Client of the lab: opens, reads and finishes runs. Runs inside k6 only. */
import { fail, sleep } from "k6";
import http from "k6/http";
import { retryDelayMs } from "./retry.js";
import { mismatchWithRun, runRequestOf } from "./settings.js";

/** @typedef {import("../../lib/runs/document").RunDocument} RunDocument */
/** @typedef {import("../../lib/runs/run-request").FinishRequest} FinishRequest */
/** @typedef {import("./settings.js").Settings} Settings */
/** @typedef {{ method: "GET" | "POST", path: string, body?: unknown }} Call */

/**
 * @param {Settings} settings
 * @param {Call} call
 * @returns {import("k6/http").RefinedResponse<"text">}
 */
function send(settings, call) {
  /** @type {Record<string, string>} */
  const headers = { "content-type": "application/json", accept: "application/json" };
  if (settings.adminToken !== null) headers.authorization = `Bearer ${settings.adminToken}`;
  const body = call.body === undefined ? null : JSON.stringify(call.body);
  return http.request(call.method, `${settings.baseUrl}${call.path}`, body, {
    headers,
    timeout: "30s",
    responseType: "text",
    tags: { name: "lab" },
  });
}

/** @param {import("k6/http").RefinedResponse<"text">} response */
function explain(response) {
  if (response.status === 0) return `no answer (${response.error})`;
  try {
    const { error } = JSON.parse(response.body);
    return `${response.status} ${error.code}: ${error.message}${error.details ? ` ${JSON.stringify(error.details)}` : ""}`;
  } catch (_notTheErrorShape) {
    return `${response.status} ${String(response.body).slice(0, 200)}`;
  }
}

/**
 * @param {Settings} settings
 * @param {Call} call
 * @returns {any} the JSON of a 2xx answer
 */
function callLab(settings, call) {
  return JSON.parse(requestOk(settings, call).body);
}

/**
 * @param {Settings} settings
 * @param {Call} call
 * @returns {import("k6/http").RefinedResponse<"text">} a 2xx answer
 */
function requestOk(settings, call) {
  return accepted(settings, call, send(settings, call));
}

/**
 * @param {Settings} settings
 * @param {Call} call
 * @param {import("k6/http").RefinedResponse<"text">} response
 * @returns {import("k6/http").RefinedResponse<"text">} a 2xx answer
 */
function accepted(settings, call, response) {
  if (response.status >= 200 && response.status < 300) return response;
  const hint = response.status === 0 ? " Start the lab with npm start, or set BASE_URL to its address." : "";
  return fail(`${call.method} ${settings.baseUrl}${call.path}: ${explain(response)}.${hint}`);
}

/**
 * @param {Settings} settings
 * @returns {string} the active strategy of the store nodes
 */
function activeStrategy(settings) {
  const { id } = callLab(settings, { method: "GET", path: "/api/strategy" });
  return id ?? fail("The store nodes have different strategies. Name one, for example -e LOCK_STRATEGY=sql-guarded");
}

/**
 * Opens a run, or attaches to the one that RUN_ID names.
 * @param {Settings} settings
 * @returns {{ run: RunDocument, runKey: string | null }} with the key that proves that a purchase belongs to the run
 */
export function openRun(settings) {
  if (settings.runId === null) {
    const strategy = settings.strategy ?? activeStrategy(settings);
    const body = runRequestOf(settings, strategy);
    const response = requestOk(settings, { method: "POST", path: "/api/runs", body });
    return { run: JSON.parse(response.body), runKey: response.headers["X-Run-Key"] ?? null };
  }
  /** @type {RunDocument} */
  const document = callLab(settings, { method: "GET", path: `/api/runs/${encodeURIComponent(settings.runId)}` });
  if (document.status !== "running")
    fail(`RUN_ID=${settings.runId}: the run is already ${document.status}. Open a new run.`);
  const mismatch = mismatchWithRun(settings, document.config);
  if (mismatch !== null) fail(`RUN_ID=${settings.runId}: ${mismatch}`);
  return { run: document, runKey: settings.runKey };
}

/**
 * @param {Settings} settings
 * @param {number} count number of nodes that serve the run
 * @returns {string[]} their URLs
 */
export function storeUrls(settings, count) {
  if (settings.storeUrls.length > 0) return settings.storeUrls;
  /** @type {{ nodes: { name: string, url: string }[] }} */
  const { nodes } = callLab(settings, { method: "GET", path: "/api/strategies" });
  if (nodes.length === 0) fail(`${settings.baseUrl}/api/strategies lists no store nodes. Set STORE_URLS.`);
  return nodes.slice(0, count).map((node) => node.url.replace(/\/+$/, ""));
}

/**
 * Repeats the call while the lab asks to retry, for example during an outage of PostgreSQL. A repeated finish changes nothing.
 * @param {Settings} settings
 * @param {string} runId
 * @param {Partial<FinishRequest>} body
 * @returns {RunDocument}
 */
export function finishRun(settings, runId, body) {
  /** @type {Call} */
  const call = { method: "POST", path: `/api/runs/${encodeURIComponent(runId)}/finish`, body };
  const startedAtMs = Date.now();
  for (;;) {
    const response = send(settings, call);
    const elapsedMs = Date.now() - startedAtMs;
    const delayMs = retryDelayMs({ status: response.status, retryAfter: response.headers["Retry-After"], elapsedMs });
    if (delayMs === null) return JSON.parse(accepted(settings, call, response).body);
    sleep(delayMs / 1_000);
  }
}
