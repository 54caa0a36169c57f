import assert from "node:assert/strict";
import type { StockOutcome, StockTarget } from "../../../../lib/stock/types";
import { couponFacts, makeCoupon, makeProduct, productFacts } from "../../../support/rows";
import { isSafe, type StockCase } from "../case";
import type { StrategyUnderTest } from "../strategy-under-test";

const STOCK = 15;
const BUYERS_EACH = 12;
const CLAIMS_EACH = 5;
const UNCLAIMED = 6;

/** Hold time of a purchase: short, because each waits for the one before. */
const HOLD_MS = 2;
/** Long enough that buyers of three processes overlap on a busy machine. */
const LONG_HOLD_MS = 250;

/** All workers buy at once. @returns the number of answers by status */
async function sell(tested: StrategyUnderTest, target: StockTarget, buyerIds: readonly string[]) {
  const workers = await tested.workers();
  for (const worker of workers)
    worker.send({ kind: "buy", target, buyerIds, holdMs: isSafe(tested.traits) ? HOLD_MS : LONG_HOLD_MS });
  const answers = await Promise.all(workers.map((worker) => worker.until("bought")));
  const statuses = answers.flatMap(({ statuses }) => statuses);
  const count = (wanted: StockOutcome["status"]) => statuses.filter((status) => status === wanted).length;
  return { count, total: statuses.length };
}

export const neverOversells: StockCase = {
  name: (traits) =>
    isSafe(traits)
      ? "sells every unit once to buyers of three processes"
      : "oversells to buyers of three processes: the flaw it demonstrates",
  async run(tested) {
    const target: StockTarget = { kind: "product", id: await makeProduct(STOCK) };
    const buyers = Array.from({ length: BUYERS_EACH }, (_, index) => `buyer-${index}`);
    const { count, total } = await sell(tested, target, buyers);
    const { stock, orders } = await productFacts(target.id);
    if (!isSafe(tested.traits)) return assert.ok(orders > STOCK, `expected more than ${STOCK} orders, found ${orders}`);
    assert.deepEqual({ stock, orders }, { stock: 0, orders: STOCK });
    assert.deepEqual([count("sold"), count("sold_out")], [STOCK, total - STOCK]);
  },
};

export const oneCouponEach: StockCase = {
  name: () => "gives each user one coupon, from any process and for any number of claims",
  async run(tested) {
    const target: StockTarget = { kind: "coupon", id: await makeCoupon(CLAIMS_EACH + UNCLAIMED) };
    const users = Array.from({ length: CLAIMS_EACH }, (_, index) => `user-${index}`);
    const { count, total } = await sell(tested, target, [...users, ...users]);
    const { stock, claims } = await couponFacts(target.id);
    assert.equal(claims, CLAIMS_EACH, "the unique index must limit claims for every strategy");
    if (!isSafe(tested.traits)) return;
    assert.equal(stock, UNCLAIMED);
    assert.deepEqual([count("sold"), count("already_claimed")], [CLAIMS_EACH, total - CLAIMS_EACH]);
  },
};
