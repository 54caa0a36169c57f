import type { StockStore } from "./stock-store";
import type { GiveBackOutcome, GiveBackRequest } from "./types";

/** Returns units by adding to whatever the stock is: for strategies whose own writes hold against that. */
export async function giveBackRelative(
  store: StockStore,
  request: GiveBackRequest,
  strategyId: string,
): Promise<Extract<GiveBackOutcome, { readonly status: "released" }>> {
  const { released } = await store.release(request, { name: "releaseRelative", values: [], strategyId });
  return { status: "released", orders: released };
}
