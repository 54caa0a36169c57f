import type { Grant, LockStrategy } from "../../../lib/locks/types";
import { nowNs } from "../../../lib/services/monotonic";
import type { StockStrategy } from "../../../lib/stock/types";
import { type LockClients, openLockClients } from "../../support/lock-clients";
import { waitUntil } from "../../support/wait-until";
import { externalEntry, isLock, makeLock, makeStock, postgresOptions, type TestSetup } from "./test-setup";
import type { BuyCommand, HoldCommand, WorkerCommand, WorkerMessage } from "./worker-protocol";

/** The program that `Worker` starts. It executes commands one after the other. */

const CLOSING_LIMIT_MS = 5_000;
/** Longer than the stalls of a busy machine, but short: cases wait for its end. */
const SESSION_MS = 4_000;

/** An open strategy, and the resources that the process had before. */
interface Opened {
  readonly clients: LockClients;
  readonly lock: LockStrategy | null;
  readonly stock: StockStrategy;
  readonly before: readonly string[];
}

function send(message: WorkerMessage): void {
  process.send?.(message);
}

async function main(): Promise<void> {
  const nextCommand = receiveCommands();
  let opened: Opened | null = null;
  send({ type: "ready" });
  for (;;) {
    const command = await nextCommand();
    if (command.kind === "end") return;
    if (command.kind === "open") opened = await open(command.setup);
    else if (opened === null) throw new Error(`no strategy is open for ${command.kind}`);
    else if (command.kind === "close") {
      await close(opened);
      opened = null;
    } else await work(opened, command);
  }
}

async function open(setup: TestSetup): Promise<Opened> {
  const before = process.getActiveResourcesInfo();
  const external = await externalEntry(setup);
  const clients = openLockClients({}, { postgres: postgresOptions(setup), sessionTimeoutMs: SESSION_MS });
  const lock = isLock(setup) ? makeLock(setup, external, clients) : null;
  const stock = makeStock(setup, external, clients);
  // Connect before any measurement.
  const warmUp = { resource: `warm:${process.pid}`, ttlMs: 5_000, waitTimeoutMs: 10_000 };
  await lock?.runGuarded(warmUp, async () => {});
  await clients.postgres().pool.query("SELECT 1");
  send({ type: "opened" });
  return { clients, lock, stock, before };
}

async function work({ lock, stock }: Opened, command: HoldCommand | BuyCommand): Promise<void> {
  if (command.kind === "buy") await buyAll(stock, command);
  else if (lock) await Promise.all(Array.from({ length: command.callers }, () => holdInTurn(lock, command)));
  send({ type: "done" });
}

async function close({ stock, lock, clients, before }: Opened): Promise<void> {
  for (const part of [stock, lock, clients]) await part?.[Symbol.asyncDispose]();
  // Sockets close a moment after disposal.
  const left = () => added(process.getActiveResourcesInfo(), before);
  const [isQuiet] = await Promise.allSettled([
    waitUntil(() => left().length === 0, {
      what: "all timers and connections to be closed",
      withinMs: CLOSING_LIMIT_MS,
    }),
  ]);
  send({ type: "closed", left: isQuiet.status === "fulfilled" ? [] : left() });
}

async function holdInTurn(lock: LockStrategy, command: HoldCommand): Promise<void> {
  const { resource, ttlMs, waitTimeoutMs } = command;
  for (let turn = 0; turn < command.holdsEach; turn += 1) {
    const outcome = await lock.runGuarded({ resource, ttlMs, waitTimeoutMs }, (grant) => hold(grant, command.holdMs));
    if (outcome.status === "contended") send({ type: "contended" });
  }
}

async function hold({ holderId, fencingToken, signal }: Grant, holdMs: number): Promise<void> {
  const fromNs = nowNs();
  send({ type: "granted" });
  signal.addEventListener("abort", () => send({ type: "lost" }), { once: true });
  await new Promise((resolve) => setTimeout(resolve, holdMs));
  const token = fencingToken === null ? null : String(fencingToken);
  send({ type: "hold", holderId, fromNs: String(fromNs), toNs: String(nowNs()), fencingToken: token });
}

let operations = 0;

async function buyAll(strategy: StockStrategy, { target, buyerIds, holdMs }: BuyCommand): Promise<void> {
  const limits = { holdMs, ttlMs: 5_000, waitTimeoutMs: 20_000 };
  const outcomes = await Promise.all(
    buyerIds.map((buyerId) => {
      operations += 1;
      const trace = { opId: `c-${process.pid}-${operations}`, invokedNs: nowNs() };
      return strategy.reduceStock({ target, quantity: 1, buyerId, runId: null, ...limits, trace });
    }),
  );
  send({ type: "bought", statuses: outcomes.map(({ status }) => status) });
}

/** Queues commands in arrival order, even if none is awaited. */
function receiveCommands(): () => Promise<WorkerCommand> {
  const commands: WorkerCommand[] = [];
  let wake = () => {};
  process.on("message", (command) => {
    commands.push(command as WorkerCommand);
    wake();
  });
  return async () => {
    while (commands.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return commands.shift() as WorkerCommand;
  };
}

/** Resources that were added since `before`. */
function added(now: readonly string[], before: readonly string[]): string[] {
  const known = [...before];
  return now.filter((resource) => {
    const index = known.indexOf(resource);
    if (index >= 0) known.splice(index, 1);
    return index < 0;
  });
}

main().then(
  () => process.disconnect(),
  (error: unknown) => {
    send({ type: "failed", message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    process.disconnect();
  },
);
