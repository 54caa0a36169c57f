import { verdictOf } from "../history/verdict";
import { plural } from "../services/number-text";
import { agreementOf, countedOfLoad, countMismatch, fellBehindSentence } from "./agreement";
import type { ClientReport } from "./client-report";
import type { Caveats, ClosedRun } from "./close-run";
import type { RunDocument } from "./document";
import { safeSentences, violationSentences } from "./verdict-sentences";

/** One defect of a recorder can repeat on every line of a history. */
const MAX_HISTORY_DOUBTS = 3;

/** Draws the verdict on a closed run from its figures. Merges the client's report, if there is one. */
export function withVerdict(closed: ClosedRun, client: ClientReport | null): RunDocument {
  const document = client ? withReport(closed.document, client) : closed.document;
  const doubts = [
    ...stopDoubts(document),
    ...historyDoubts(closed),
    ...clientDoubts(document, client),
    ...caveatDoubts(closed.caveats),
    ...outcomeDoubts(document),
  ];
  const verdict = verdictOf({ violations: document.violations, doubts });
  const sentences =
    verdict === "safe" ? safeSentences({ ...document, client }) : [...violationSentences(document), ...doubts];
  return { ...document, client, verdict, sentences };
}

function withReport(document: RunDocument, client: ClientReport): RunDocument {
  return {
    ...document,
    agreement: agreementOf(document, client),
    latencyMs: client.latencyMs,
    latencySource: "client",
    contention: {
      ...document.contention,
      arrivalSkewMs: client.arrivalSkewMs,
      droppedIterations: client.droppedIterations,
    },
  };
}

function historyDoubts({ doubts, unservedWaiters }: ClosedRun): string[] {
  // The caveats say which operations are missing, and one sentence stands for all unserved waiters.
  const own = doubts.filter(({ kind }) => kind !== "droppedOperations" && kind !== "unservedWaiters");
  const sentences = own.slice(0, MAX_HISTORY_DOUBTS).map(({ sentence }) => sentence);
  if (own.length > MAX_HISTORY_DOUBTS) {
    sentences.push(`The history has ${plural(own.length - MAX_HISTORY_DOUBTS, "more problem")} like these.`);
  }
  if (unservedWaiters > 0) {
    const were = unservedWaiters === 1 ? "was" : "were";
    sentences.push(`${plural(unservedWaiters, "waiter")} ${were} not served in time after a fault had ended.`);
  }
  return sentences;
}

function clientDoubts(document: RunDocument, client: ClientReport | null): string[] {
  // A stopped load generator does not report.
  if (document.status === "stopped") return [];
  if (!client) {
    return ["The load generator did not report, so dropped requests and the buyers' latency are not known."];
  }
  const doubts: string[] = [];
  if (document.agreement?.isStarved) doubts.push(fellBehindSentence(document, client));
  if (client.droppedIterations > 0) {
    doubts.push(
      `The load generator dropped ${plural(client.droppedIterations, "purchase")} instead of sending them late.`,
    );
  }
  // A killed node answers nothing, and its history says what its purchases had done.
  const isKilled = document.faults.some(({ killedNode }) => killedNode !== undefined);
  if (client.failedRequests > 0 && !isKilled) doubts.push(`${plural(client.failedRequests, "request")} got no answer.`);
  const counted = countedOfLoad(document);
  if (client.iterations - client.failedRequests > counted) doubts.push(countMismatch(client, counted));
  return doubts;
}

function stopDoubts({ status, counts, config }: RunDocument): string[] {
  if (status !== "stopped") return [];
  const planned =
    config.vus === null
      ? plural(counts.requests, "purchase")
      : `${counts.requests} of ${plural(config.vus, "purchase")}`;
  return [`The run was stopped after ${planned}, so the rest of the sale is not tested.`];
}

function caveatDoubts({ dropped, silentNodes, killedNodes, stillRunning, counterUnread }: Caveats): string[] {
  const doubts: string[] = [];
  if (dropped > 0) {
    doubts.push(`${plural(dropped, "operation")} ${dropped === 1 ? "is" : "are"} missing from the history.`);
  }
  if (silentNodes.length > 0) doubts.push(`The lab got no figures from ${silentNodes.join(", ")}.`);
  for (const node of killedNodes) {
    doubts.push(`${node} was killed during the run, so its last operations may be missing from the history.`);
  }
  if (stillRunning > 0) doubts.push(`${plural(stillRunning, "purchase")} had no outcome when the run was closed.`);
  if (counterUnread !== null)
    doubts.push(`The strategy's stock counter was not compared with the row: ${counterUnread.replace(/\.$/, "")}.`);
  return doubts;
}

function outcomeDoubts({ counts, config, stock, missedFaults = [] }: RunDocument): string[] {
  const doubts = missedFaults.map(
    ({ faultId, reason }) => `The fault ${faultId} was not seen to take effect: ${reason}.`,
  );
  if (stock.counter === null) doubts.push("The strategy's stock counter outside PostgreSQL has vanished.");
  if (counts.sold === 0 && counts.requests > 0) {
    doubts.push(`Nothing was sold to ${plural(config.vus ?? counts.requests, "buyer")}.`);
  }
  return doubts;
}
