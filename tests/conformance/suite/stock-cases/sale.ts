import assert from "node:assert/strict";
import type { StockOutcome, StockTarget } from "../../../../lib/stock/types";
import { couponFacts, makeCoupon, makeProduct, productFacts } from "../../../support/rows";
import { isSafe, type StockCase } from "../case";
import type { StrategyUnderTest } from "../strategy-under-test";

const STOCK = 15;
const BUYERS_EACH = 12;
const CLAIMS_EACH = 5;
const LEFT_OVER = 6;

/** Of a purchase: short where each waits for the one before. */
const HOLD_MS = 2;
/** Long enough that buyers of three processes meet, however busy the machine. */
const LONG_HOLD_MS = 250;

/** All workers buy at once. @returns how often each answer came */
async function sell(subject: StrategyUnderTest, target: StockTarget, buyerIds: readonly string[]) {
  const workers = await subject.workers();
  for (const worker of workers)
    worker.send({ kind: "buy", target, buyerIds, holdMs: isSafe(subject.traits) ? HOLD_MS : LONG_HOLD_MS });
  const answers = await Promise.all(workers.map((worker) => worker.until("bought")));
  const statuses = answers.flatMap(({ statuses }) => statuses);
  const count = (wanted: StockOutcome["status"]) => statuses.filter((status) => status === wanted).length;
  return { count, total: statuses.length };
}

export const neverMoreThanTheStock: StockCase = {
  name: (traits) =>
    isSafe(traits)
      ? "sells every unit once to buyers of three processes"
      : "sells what is not there to buyers of three processes: the flaw it is here to show",
  async run(subject) {
    const target: StockTarget = { kind: "product", id: await makeProduct(STOCK) };
    const buyers = Array.from({ length: BUYERS_EACH }, (_, index) => `buyer-${index}`);
    const { count, total } = await sell(subject, target, buyers);
    const { stock, orders } = await productFacts(target.id);
    if (!isSafe(subject.traits)) return assert.ok(orders > STOCK, `${orders} orders for ${STOCK} units`);
    assert.deepEqual({ stock, orders }, { stock: 0, orders: STOCK });
    assert.deepEqual([count("sold"), count("sold_out")], [STOCK, total - STOCK]);
  },
};

export const oneCouponEach: StockCase = {
  name: () => "gives each user one coupon, wherever and how often they ask",
  async run(subject) {
    const target: StockTarget = { kind: "coupon", id: await makeCoupon(CLAIMS_EACH + LEFT_OVER) };
    const users = Array.from({ length: CLAIMS_EACH }, (_, index) => `user-${index}`);
    const { count, total } = await sell(subject, target, [...users, ...users]);
    const { stock, claims } = await couponFacts(target.id);
    assert.equal(claims, CLAIMS_EACH, "the unique index holds whatever the strategy does");
    if (!isSafe(subject.traits)) return;
    assert.equal(stock, LEFT_OVER);
    assert.deepEqual([count("sold"), count("already_claimed")], [CLAIMS_EACH, total - CLAIMS_EACH]);
  },
};
