import { createServer } from "node:http";
import { apiListener } from "../../lib/http/node-adapter";
import { currentNode } from "../../lib/node/current-node";
import { env } from "../../lib/services/current-env";
import { driftOf, reconcileCounters } from "../../lib/shop/counters";
import { expireDueOrders } from "../../lib/shop/expiry";
import { ShopMaintenance } from "../../lib/shop/maintenance";
import { cancelOrder, payOrder } from "../../lib/shop/pay-order";
import { isShopError } from "../../lib/shop/shop-error";
import { MemcachedCounter } from "../../lib/stock/memcached-counter";
import { RedisCounter } from "../../lib/stock/redis-counter";
import { StockStore } from "../../lib/stock/stock-store";
import type { ShopErrand, ShopNodeMessage } from "./shop-node";

/** The other end of `ShopNode`. */

function say(message: ShopNodeMessage): void {
  process.send?.(message);
}

function standStill(): Promise<never> {
  say({ type: "standing still" });
  return new Promise(() => {});
}

async function run(errand: ShopErrand): Promise<unknown> {
  const node = currentNode();
  switch (errand.do) {
    case "expire": {
      let batches = 0;
      const onBatch = async () => {
        if (batches === errand.stopAtBatch) await standStill();
        batches += 1;
      };
      return expireDueOrders(node, { now: new Date(errand.nowEpochMs), onBatch });
    }
    case "stop before the counter":
      RedisCounter.prototype.giveBack = standStill;
      MemcachedCounter.prototype.giveBack = standStill;
      return null;
    case "stop before the order":
      StockStore.prototype.run = standStill;
      return null;
    case "pay":
    case "cancel":
      return Promise.all(errand.orders.map((order) => settle(errand.do, order)));
    case "reconcile":
      return reconcileCounters(node);
    case "drift":
      return driftOf(node, { kind: "product", id: errand.productId });
  }
}

async function settle(how: "pay" | "cancel", order: { orderId: string; buyerId: string }): Promise<string> {
  try {
    const node = currentNode();
    return (await (how === "pay" ? payOrder(node, order, { outcome: "succeed" }) : cancelOrder(node, order))).status;
  } catch (error) {
    if (isShopError(error)) return error.options.code;
    throw error;
  }
}

function main(): void {
  const server = createServer(apiListener);
  server.listen(env().PORT, "127.0.0.1", () => say({ type: "ready", port: env().PORT }));
  new ShopMaintenance(currentNode(), env().SHOP_MAINTENANCE_EVERY_MS).start();
  process.on("message", (errand) => {
    run(errand as ShopErrand).then(
      (result) => say({ type: "done", result }),
      (error: Error) => say({ type: "failed", message: error.stack ?? error.message }),
    );
  });
  // Nobody is left to tell: the test has gone.
  process.on("disconnect", () => process.exit(0));
}

main();
