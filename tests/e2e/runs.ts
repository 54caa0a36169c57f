import type { APIRequestContext } from "@playwright/test";
import { expect } from "./lab";

/** Creates runs over the API with the built-in load generator. */

export interface MadeRun {
  readonly id: string;
  readonly status: string;
  readonly strategy: string;
  readonly config: { readonly seed: number; readonly stock: number; readonly vus: number | null };
}

/** The sale that `makeRun` makes by default. */
const DEFAULT_SALE = { stock: 20, vus: 80 };

export async function makeRun(request: APIRequestContext, sale: object): Promise<string> {
  const response = await request.post("/api/runs", {
    data: { ...DEFAULT_SALE, engine: "builtin", launch: true, ...sale },
  });
  expect(response.status(), await response.text()).toBe(201);
  const { id } = (await response.json()) as MadeRun;
  await expect.poll(async () => (await readRun(request, id)).status, { timeout: 50_000 }).toBe("finished");
  return id;
}

/**
 * Returns the newest finished run of each strategy with the default sale, and makes the missing ones. Spec files in two
 * workers may call this at the same time; the lab rejects a run while another one is active, so a caller waits and looks again.
 */
export async function ensureRuns(request: APIRequestContext, strategies: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const strategy of strategies) {
    await expect(async () => {
      ids.push((await findRun(request, strategy)) ?? (await makeRun(request, { strategy })));
    }).toPass({ timeout: 90_000 });
  }
  return ids;
}

async function findRun(request: APIRequestContext, wanted: string): Promise<string | undefined> {
  const { runs } = (await (await request.get("/api/runs?limit=50")).json()) as { runs: MadeRun[] };
  return runs.find(
    ({ status, strategy, config: { stock, vus } }) =>
      status === "finished" && strategy === wanted && stock === DEFAULT_SALE.stock && vus === DEFAULT_SALE.vus,
  )?.id;
}

export async function readRun(request: APIRequestContext, id: string): Promise<MadeRun> {
  return (await (await request.get(`/api/runs/${id}`)).json()) as MadeRun;
}
