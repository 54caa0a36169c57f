import { setTimeout as delay } from "node:timers/promises";
import type { FaultRequest } from "../../lib/faults/request";
import type { History } from "../../lib/history/history";
import { parseHistory } from "../../lib/history/parse";
import type { RunDocument } from "../../lib/runs/document";
import { historyLines } from "../../lib/runs/history-export";
import { type RunRequest, runRequestSchema } from "../../lib/runs/run-request";
import { useFaultLab } from "./fault-lab";
import { clientReport } from "./run-lab";
import { buyAt, type ShopAnswer, type ShopNode } from "./shop-node";

export interface FaultSale {
  readonly document: RunDocument;
  readonly history: History;
  readonly answers: readonly ShopAnswer[];
}

/**
 * Runs a sale in which all buyers start together, alternating between the nodes.
 * @param forMs they buy again and again for this time; absent: each buys once
 */
export type SellWithFaults = (
  strategy: string,
  faults: readonly FaultRequest[],
  changes?: Partial<RunRequest> & { readonly forMs?: number },
) => Promise<FaultSale>;

/** Between two purchases of a buyer: leaves the processors time to serve the purchases. */
const THINK_MS = 20;

/** Two store nodes and a lab for the tests of this block. */
export function useFaultSales(settings: Partial<RunRequest>): SellWithFaults {
  const lab = useFaultLab();
  return async (strategy, faults, { forMs = 0, ...changes } = {}) => {
    const request = runRequestSchema.parse({ strategy, ...settings, ...changes, faults });
    const { id, target } = await lab.coordinator.open(request);
    const startMs = performance.now();
    const answers: ShopAnswer[] = [];
    const buyer = async (number: number) => {
      const { url } = lab.nodes[number % lab.nodes.length] as ShopNode;
      for (let turn = 0; turn === 0 || performance.now() - startMs < forMs; turn += 1) {
        if (turn > 0) await delay(THINK_MS);
        const userId = turn === 0 ? `buyer-${number}` : `buyer-${number}-${turn}`;
        answers.push(await buyAt(url, { productId: target.id }, { userId }));
      }
    };
    await Promise.all(Array.from({ length: request.vus }, (_, number) => buyer(number)));
    const document = await lab.coordinator.finish(id, {
      client: clientReport(answers.length),
      awaitClientReport: false,
    });
    const { history } = await parseHistory(historyLines(document));
    return { document, history, answers };
  };
}

/** The verdict with its sentences and proofs, for messages of assertions. */
export function verdictText({ verdict, sentences, faults }: RunDocument): string {
  return `${verdict}: ${[...sentences, ...faults.map(({ proof }) => proof)].join(" ")}`;
}
