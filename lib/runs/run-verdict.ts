import { agreementOf, countedOfLoad, starvedWords } from "./agreement";
import type { ClientReport, RunDocument } from "./document";

/** Reasons a run proves nothing, known to the coordinator and not to be seen in the document's figures. */
export interface Caveats {
  /** Operations the recorders had no room for. */
  readonly dropped: number;
  /** Nodes that did not answer when asked for their figures. */
  readonly silentNodes: readonly string[];
  /** Purchases still running when the lab stopped waiting for them. */
  readonly stillRunning: number;
  /** Why a counter that is kept outside of PostgreSQL could not be read; null when it could, or there is none. */
  readonly counterUnread: string | null;
  /** Waiters that were not served in time after a fault had healed. */
  readonly unservedWaiters: number;
}

export const noCaveats: Caveats = {
  dropped: 0,
  silentNodes: [],
  stillRunning: 0,
  counterUnread: null,
  unservedWaiters: 0,
};

interface Conclusion {
  readonly document: RunDocument;
  readonly client: ClientReport | null;
  readonly caveats: Caveats;
}

/**
 * Draws the verdict. A violation found is proof and makes the run unsafe, whatever else is missing; a run that found
 * none is safe only if nothing stood in the way of finding one.
 */
export function conclude({ document, client, caveats }: Conclusion): RunDocument {
  const seen = client ? withClient(document, client) : document;
  const broken = brokenPromises(seen);
  const doubts = doubtsAbout(seen, client, caveats);
  const verdict = broken.length > 0 ? "unsafe" : doubts.length > 0 ? "inconclusive" : "safe";
  const sentences = verdict === "safe" ? reassurance(seen) : [...broken, ...doubts];
  return { ...seen, client, verdict, sentences };
}

function withClient(document: RunDocument, client: ClientReport): RunDocument {
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

function brokenPromises({ violations, stock, nodes, strategy }: RunDocument): string[] {
  const { oversold, lostUpdates, undersold, negativeStock, duplicateClaims, overlappingHolds, staleWrites } =
    violations;
  const found: string[] = [];
  if (oversold > 0) {
    found.push(
      `${plural(stock.orders, "buyer")} were told they had one of ${plural(stock.initial, "unit")}; ${oversold} cannot be delivered.`,
    );
  }
  if (lostUpdates > 0) {
    const who =
      nodes.filter((node) => node.counts.sold > 0).length > 1
        ? "two buyers, often on different nodes,"
        : "two buyers on one node";
    found.push(
      `${plural(lostUpdates, "write")} ${lostUpdates === 1 ? "was" : "were"} lost: ${who} read the same stock and both wrote their own answer back.`,
    );
  }
  if (negativeStock > 0) found.push(`The stock fell to ${stock.final}.`);
  if (undersold > 0) found.push(`${plural(undersold, "unit")} left the stock without an order.`);
  if (duplicateClaims > 0) found.push(`${plural(duplicateClaims, "buyer")} claimed more than once.`);
  if (staleWrites > 0)
    found.push(
      `${plural(staleWrites, "write")} of a holder whose lease was over ${staleWrites === 1 ? "was" : "were"} accepted.`,
    );
  // Overlap alone is luck, not safety: nothing but timing kept those two from the same value.
  if (overlappingHolds > 0)
    found.push(
      `${plural(overlappingHolds, "time")} a buyer entered the critical section of ${strategy} while another was inside.`,
    );
  return [...found, ...brokenRecords(violations)];
}

/** What only the history shows: stock and orders may agree all the same. */
function brokenRecords(violations: RunDocument["violations"]): string[] {
  const { fencingOrder = 0, ticketOrder = 0 } = violations;
  const { acknowledgedRows = 0, unknownRows = 0, refusedRows = 0, strayRows = 0 } = violations;
  const found: string[] = [];
  if (acknowledgedRows > 0)
    found.push(`${plural(acknowledgedRows, "buyer")} told "sold" without exactly that one order.`);
  if (refusedRows > 0) found.push(`${plural(refusedRows, "buyer")} turned away and sold to all the same.`);
  if (unknownRows > 0) found.push(`${plural(unknownRows, "buyer")} left without an answer, with two orders or more.`);
  if (strayRows > 0) found.push(`${plural(strayRows, "order")} that no purchase asked for.`);
  if (ticketOrder > 0)
    found.push(`${plural(ticketOrder, "time")} the stock was seen at a value it could not have had at that moment.`);
  if (fencingOrder > 0) found.push(`${plural(fencingOrder, "fencing token")} not above an earlier grant's.`);
  return found;
}

function doubtsAbout(document: RunDocument, client: ClientReport | null, caveats: Caveats): string[] {
  const { contention, counts, config, stock } = document;
  const doubts: string[] = [];
  if (counts.requests === 0) doubts.push("No purchase reached a store node.");
  else if (!contention.certified)
    doubts.push("No two purchases were ever in flight at once, so nothing was put to the test.");
  if (!client)
    doubts.push("The load generator never reported, so dropped requests and the buyers' latency are not known.");
  if (client && document.agreement?.isStarved) doubts.push(starvedWords(document, client));
  if (client && client.droppedIterations > 0)
    doubts.push(`The load generator dropped ${plural(client.droppedIterations, "iteration")}.`);
  if (client && client.failedRequests > 0) doubts.push(`${plural(client.failedRequests, "request")} got no answer.`);
  const counted = countedOfLoad(document);
  if (client && client.iterations - client.failedRequests > counted) {
    doubts.push(`The load generator sent ${client.iterations} purchases, the nodes counted ${counted}.`);
  }
  if (caveats.dropped > 0) doubts.push(`The recorder dropped ${plural(caveats.dropped, "operation")}.`);
  if (caveats.silentNodes.length > 0) doubts.push(`No figures from ${caveats.silentNodes.join(", ")}.`);
  if (caveats.stillRunning > 0)
    doubts.push(`${plural(caveats.stillRunning, "purchase")} had no outcome when the run was closed.`);
  if (caveats.counterUnread !== null) doubts.push(`The strategy's counter could not be read: ${caveats.counterUnread}`);
  for (const { faultId, reason } of document.missedFaults ?? [])
    doubts.push(`${faultId} was asked for and not seen to take effect: ${reason}.`);
  if (caveats.unservedWaiters > 0)
    doubts.push(`${plural(caveats.unservedWaiters, "waiter")} not served in time after a fault had healed.`);
  if (stock.counter === null) doubts.push("The stock that the strategy counts outside of PostgreSQL has vanished.");
  if (counts.sold === 0 && counts.requests > 0)
    doubts.push(`Nothing was sold to ${plural(config.vus ?? counts.requests, "buyer")}.`);
  return doubts;
}

function reassurance({ stock, counts, contention }: RunDocument): string[] {
  const sold =
    stock.final === 0
      ? `All ${stock.initial} units were sold once`
      : `${plural(stock.orders, "unit")} of ${stock.initial} were sold once`;
  const refused = counts.soldOut + counts.contended + counts.rejected;
  const said = [
    `${sold}, and the stock says the same: ${stock.initial} - ${stock.final} = ${plural(stock.orders, "order")}.`,
    `Up to ${contention.peakInFlight} purchases were in flight at once, and ${plural(refused, "buyer")} ${refused === 1 ? "was" : "were"} turned away.`,
  ];
  // Safe is not the same as useful: what the promise cost belongs beside it.
  const failed = counts.errors + counts.unknown;
  if (failed > 0) said.push(`${plural(failed, "purchase")} failed, as the answers said.`);
  if (stock.final > 0 && counts.contended > 0) {
    said.push(
      `${plural(stock.final, "unit")} stayed unsold although ${plural(counts.contended, "buyer")} waited in vain.`,
    );
  }
  return said;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
