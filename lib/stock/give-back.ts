import type { StockStore } from "./stock-store";
import type { GiveBackOutcome, GiveBackRequest } from "./types";

/** Returns units by adding to the current stock. For strategies whose own writes tolerate a concurrent increment. */
export async function giveBackRelative(
  store: StockStore,
  request: GiveBackRequest,
  strategyId: string,
): Promise<Extract<GiveBackOutcome, { readonly status: "released" }>> {
  const { released } = await store.release(request, { name: "releaseRelative", values: [], strategyId });
  return { status: "released", orders: released };
}
