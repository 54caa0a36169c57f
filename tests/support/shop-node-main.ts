import { createHttpServer } from "../../lib/http/http-server";
import { apiListener } from "../../lib/http/node-adapter";
import { currentNode, servesSales } from "../../lib/node/current-node";
import { RunKeeper } from "../../lib/node/run-keeper";
import { AbandonedRuns } from "../../lib/runs/abandoned-run";
import { coordinator } from "../../lib/runs/lab";
import { env } from "../../lib/services/current-env";
import { log } from "../../lib/services/log";
import { driftOf, reconcileCounters } from "../../lib/shop/counters";
import { expireDueOrders } from "../../lib/shop/expiry";
import { ShopMaintenance } from "../../lib/shop/maintenance";
import { cancelOrder, payOrder } from "../../lib/shop/pay-order";
import { isShopError } from "../../lib/shop/shop-error";
import { MemcachedCounter } from "../../lib/stock/memcached-counter";
import { RedisCounter } from "../../lib/stock/redis-counter";
import { StockStore } from "../../lib/stock/stock-store";
import type { ShopNodeMessage, ShopTask } from "./shop-node";

/** The program of `ShopNode`. */

function send(message: ShopNodeMessage): void {
  process.send?.(message);
}

function stopPermanently(): Promise<never> {
  send({ type: "standing still" });
  return new Promise(() => {});
}

async function run(task: ShopTask): Promise<unknown> {
  const node = currentNode();
  switch (task.do) {
    case "expire": {
      let batches = 0;
      const onBatch = async () => {
        if (batches === task.stopAtBatch) await stopPermanently();
        batches += 1;
      };
      return expireDueOrders(node, { now: new Date(task.nowEpochMs), onBatch });
    }
    case "stop before the counter":
      RedisCounter.prototype.giveBack = stopPermanently;
      MemcachedCounter.prototype.giveBack = stopPermanently;
      return null;
    case "stop before the order":
      StockStore.prototype.run = stopPermanently;
      return null;
    case "pay":
    case "cancel":
      return Promise.all(task.orders.map((order) => settle(task.do, order)));
    case "reconcile":
      return reconcileCounters(node);
    case "drift":
      return driftOf(node, { kind: "product", id: task.productId });
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

async function main(): Promise<void> {
  await new RunKeeper(currentNode()).start();
  const server = createHttpServer(apiListener);
  server.listen(env().PORT, "127.0.0.1", () => send({ type: "ready", port: env().PORT }));
  coordinator()
    .failOrphanedRun()
    .catch((error: Error) => log().warn(error.message));
  if (!servesSales()) new AbandonedRuns(() => coordinator().endAbandonedRun()).start();
  new ShopMaintenance(currentNode(), env().SHOP_MAINTENANCE_EVERY_MS).start();
  process.on("message", (task) => {
    run(task as ShopTask).then(
      (result) => send({ type: "done", result }),
      (error: Error) => send({ type: "failed", message: error.stack ?? error.message }),
    );
  });
  // The test process has exited, so there is no receiver.
  process.on("disconnect", () => process.exit(0));
}

void main();
