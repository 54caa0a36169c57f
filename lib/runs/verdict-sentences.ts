import { durationText, formatCount, plural } from "../services/number-text";
import type { RunDocument } from "./document";

/** The sentences of a verdict. People read them first. */

/** Each broken promise, most important first; empty if there are no violations. */
export function violationSentences(document: RunDocument): string[] {
  const { violations, stock, nodes, strategy, target } = document;
  const { oversold, lostUpdates, undersold, negativeStock, duplicateClaims, overlappingHolds, staleWrites } =
    violations;
  const { counterDrift = 0 } = violations;
  const sentences: string[] = [];
  if (oversold > 0) {
    sentences.push(
      `${plural(stock.orders, "unit")} ordered from a stock of ${formatCount(stock.initial)}: ${formatCount(oversold)} cannot be delivered.`,
    );
  }
  if (lostUpdates > 0) {
    const sellingNodes = nodes.filter((node) => node.counts.sold > 0).length;
    const buyers = sellingNodes > 1 ? "two buyers, often on different nodes," : "two buyers on the same node";
    sentences.push(
      `${plural(lostUpdates, "stock update")} ${wasOrWere(lostUpdates)} lost: each time, ${buyers} read the same stock and one overwrote the other's update.`,
    );
  }
  if (negativeStock > 0)
    sentences.push(`The stock fell below zero, to ${formatCount(Math.min(stock.final, stock.counter ?? 0))}.`);
  if (undersold > 0) sentences.push(`${plural(undersold, "unit")} left the stock without an order.`);
  if (counterDrift > 0) {
    sentences.push(
      `The strategy's counter ended at ${formatCount(stock.counter)} and the row at ${formatCount(stock.final)}: they differ by ${plural(counterDrift, "unit")}.`,
    );
  }
  if (duplicateClaims > 0) {
    const sold =
      target.kind === "coupon"
        ? `${plural(duplicateClaims, "claim")} ${wasOrWere(duplicateClaims)} accepted beyond one per buyer`
        : `${plural(duplicateClaims, "unit")} ${wasOrWere(duplicateClaims)} sold beyond the limit per buyer`;
    sentences.push(`${sold}.`);
  }
  if (staleWrites > 0) {
    sentences.push(
      `${plural(staleWrites, "write")} ${wasOrWere(staleWrites)} accepted from a holder whose lease had expired.`,
    );
  }
  // Overlapping holders without a lost update are still unsafe: only their timing kept them from reading the same value.
  if (overlappingHolds > 0) {
    sentences.push(
      `${plural(overlappingHolds, "time")}, a buyer entered the critical section of ${strategy} while another buyer was in it.`,
    );
  }
  return [...sentences, ...recordSentences(violations)];
}

/** Violations that only the history shows: the stock and the number of orders may still agree. */
function recordSentences(violations: RunDocument["violations"]): string[] {
  const { fencingOrder = 0, ticketOrder = 0 } = violations;
  const { acknowledgedRows = 0, failoverLosses = 0, unknownRows = 0, refusedRows = 0, strayRows = 0 } = violations;
  const sentences: string[] = [];
  if (failoverLosses > 0) {
    const orders = plural(failoverLosses, "order");
    sentences.push(
      `${orders} ${wasOrWere(failoverLosses)} acknowledged, then lost by a failover: the promoted replica of the database did not have ${failoverLosses === 1 ? "it" : "them"}.`,
    );
  }
  if (acknowledgedRows > 0) {
    const lack = acknowledgedRows === 1 ? "does" : "do";
    sentences.push(
      `${plural(acknowledgedRows, "purchase")} got the answer "sold" but ${lack} not have exactly one order.`,
    );
  }
  if (refusedRows > 0) {
    sentences.push(
      `${plural(refusedRows, "purchase")} ${wasOrWere(refusedRows)} refused but ${hasOrHave(refusedRows)} an order.`,
    );
  }
  if (unknownRows > 0) {
    sentences.push(
      `${plural(unknownRows, "purchase")} got no answer and ${hasOrHave(unknownRows)} more than one order.`,
    );
  }
  if (strayRows > 0) {
    sentences.push(
      `${plural(strayRows, "order")} ${strayRows === 1 ? "belongs" : "belong"} to no purchase of this run.`,
    );
  }
  if (ticketOrder > 0) {
    sentences.push(
      `${plural(ticketOrder, "time")}, a purchase read a stock value that the stock cannot have had at that moment.`,
    );
  }
  if (fencingOrder > 0) {
    sentences.push(
      `${plural(fencingOrder, "fencing token")} ${wasOrWere(fencingOrder)} not higher than the token of an earlier grant.`,
    );
  }
  return sentences;
}

/** The evidence for a safe verdict, and what safety cost. */
export function safeSentences(document: RunDocument): string[] {
  const { stock, counts, contention, refusedStaleWrites = 0 } = document;
  const sold =
    stock.final === 0
      ? `All ${formatCount(stock.initial)} units were sold once`
      : `${formatCount(stock.orders)} of ${plural(stock.initial, "unit")} were sold once`;
  const refused = counts.soldOut + counts.contended + counts.rejected;
  const sentences = [
    `${sold}, and the stock agrees: ${formatCount(stock.initial)} - ${formatCount(stock.final)} = ${plural(stock.orders, "unit")} ordered.`,
    `Up to ${formatCount(contention.peakInFlight)} purchases were in flight at the same time, and ${plural(refused, "buyer")} ${wasOrWere(refused)} refused.`,
  ];
  if (refusedStaleWrites > 0) {
    sentences.push(
      `Fencing refused ${plural(refusedStaleWrites, "stale write")}: a holder wrote after its lease had ended and a newer holder had written.`,
    );
  }
  const failed = counts.errors + counts.unknown - refusedStaleWrites - unansweredOf(document);
  if (failed > 0) sentences.push(`${plural(failed, "purchase")} failed, and the answers said so.`);
  if (stock.final > 0 && counts.contended > 0) {
    sentences.push(
      `${plural(stock.final, "unit")} stayed unsold, although ${plural(counts.contended, "buyer")} waited for the lock until they timed out.`,
    );
  }
  return [...sentences, ...recoverySentences(document)];
}

/** Purchases that ended with their process, so that no answer said so. */
function unansweredOf({ faults, counts, client }: RunDocument): number {
  const isKilled = faults.some(({ killedNode }) => killedNode !== undefined);
  return isKilled ? Math.min(counts.unknown, client?.failedRequests ?? 0) : 0;
}

/** How the lock went on after each fault. */
function recoverySentences({ faults, recovery = [], client }: RunDocument): string[] {
  const sentences = faults.flatMap(({ faultId }, index) => {
    const found = recovery[index];
    if (!found) return [];
    const { nextGrantMs, unserved, watchedMs } = found;
    const wait = `After ${faultId} began`;
    if (nextGrantMs !== null) return [`${wait}, the next purchase got the lock in ${durationText(nextGrantMs)}.`];
    return [
      `${wait}, no purchase got the lock for ${durationText(watchedMs)}: ${plural(unserved, "purchase")} waited and were not served.`,
    ];
  });
  const { killedNode } = faults.find((fault) => fault.killedNode !== undefined) ?? {};
  if (killedNode === undefined || !client || client.failedRequests === 0) return sentences;
  return [...sentences, `${plural(client.failedRequests, "request")} got no answer, because ${killedNode} was killed.`];
}

function wasOrWere(count: number): string {
  return count === 1 ? "was" : "were";
}

function hasOrHave(count: number): string {
  return count === 1 ? "has" : "have";
}
