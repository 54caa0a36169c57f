/** Talks to the lab: opens, reads and finishes runs. Runs inside k6 only. */
import { fail } from "k6";
import http from "k6/http";
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
  return JSON.parse(answered(settings, call).body);
}

/**
 * @param {Settings} settings
 * @param {Call} call
 * @returns {import("k6/http").RefinedResponse<"text">} a 2xx answer
 */
function answered(settings, call) {
  const response = send(settings, call);
  if (response.status >= 200 && response.status < 300) return response;
  const hint = response.status === 0 ? " Is the lab up (npm start)? BASE_URL says where it is." : "";
  return fail(`${call.method} ${settings.baseUrl}${call.path}: ${explain(response)}.${hint}`);
}

/**
 * @param {Settings} settings
 * @returns {string} the strategy the store nodes are switched to
 */
function activeStrategy(settings) {
  const { id } = callLab(settings, { method: "GET", path: "/api/strategy" });
  return id ?? fail("The store nodes do not agree on a strategy; name one with -e LOCK_STRATEGY=sql-guarded");
}

/**
 * Opens a run, or attaches to the one that RUN_ID names.
 * @param {Settings} settings
 * @returns {{ run: RunDocument, runKey: string | null }} with the key that tells its purchases from a stranger's
 */
export function openRun(settings) {
  if (settings.runId === null) {
    const strategy = settings.strategy ?? activeStrategy(settings);
    const body = runRequestOf(settings, strategy);
    const response = answered(settings, { method: "POST", path: "/api/runs", body });
    return { run: JSON.parse(response.body), runKey: response.headers["X-Run-Key"] ?? null };
  }
  /** @type {RunDocument} */
  const document = callLab(settings, { method: "GET", path: `/api/runs/${encodeURIComponent(settings.runId)}` });
  if (document.status !== "running") fail(`RUN_ID=${settings.runId}: the run is already ${document.status}`);
  const mismatch = mismatchWithRun(settings, document.config);
  if (mismatch !== null) fail(`RUN_ID=${settings.runId}: ${mismatch}`);
  return { run: document, runKey: settings.runKey };
}

/**
 * @param {Settings} settings
 * @param {number} count how many nodes serve the run
 * @returns {string[]} their URLs
 */
export function storeUrls(settings, count) {
  if (settings.storeUrls.length > 0) return settings.storeUrls;
  /** @type {{ nodes: { name: string, url: string }[] }} */
  const { nodes } = callLab(settings, { method: "GET", path: "/api/strategies" });
  if (nodes.length === 0) fail(`${settings.baseUrl}/api/strategies names no store nodes; set STORE_URLS`);
  return nodes.slice(0, count).map((node) => node.url.replace(/\/+$/, ""));
}

/**
 * @param {Settings} settings
 * @param {string} runId
 * @param {Partial<FinishRequest>} body
 * @returns {RunDocument}
 */
export function finishRun(settings, runId, body) {
  return callLab(settings, { method: "POST", path: `/api/runs/${encodeURIComponent(runId)}/finish`, body });
}
