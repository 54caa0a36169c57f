import type { APIRequestContext } from "@playwright/test";
import { expect } from "./lab";

/** Creates runs over the API with the built-in load generator. */

export interface MadeRun {
  readonly id: string;
  readonly status: string;
  readonly strategy: string;
  readonly config: { readonly seed: number; readonly stock: number };
}

export async function makeRun(request: APIRequestContext, sale: object): Promise<string> {
  const response = await request.post("/api/runs", {
    data: { stock: 20, vus: 80, engine: "builtin", launch: true, ...sale },
  });
  expect(response.status(), await response.text()).toBe(201);
  const { id } = (await response.json()) as MadeRun;
  await expect.poll(async () => (await readRun(request, id)).status, { timeout: 50_000 }).toBe("finished");
  return id;
}

export async function makeRuns(request: APIRequestContext, strategies: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const strategy of strategies) ids.push(await makeRun(request, { strategy }));
  return ids;
}

export async function readRun(request: APIRequestContext, id: string): Promise<MadeRun> {
  return (await (await request.get(`/api/runs/${id}`)).json()) as MadeRun;
}
