import { type Command, InvalidArgumentError, Option } from "commander";
import { MAX_BUYERS } from "../../lib/runs/engines/buyer-limit";
import { stockStrategies } from "../../lib/stock/stock-strategies";

/** The flags that describe a sale, shared by `run`, `sweep` and `results`. */

export interface SaleFlags {
  readonly stock: number;
  readonly buyers: number;
  readonly holdMs: number;
  readonly ttlMs: number;
  readonly waitTimeoutMs: number;
  readonly fencing?: boolean;
  readonly nodes?: number;
  readonly rate?: number;
  readonly durationMs?: number;
  readonly seed: number;
  readonly engine: "k6" | "builtin";
  readonly target: "product" | "coupon";
  readonly targetId?: number;
  readonly url?: string;
  readonly json?: boolean;
}

/** A parser for commander, which adds the name of the flag to the message. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

export function strategyIds(): string[] {
  return [...stockStrategies.keys()];
}

/** @throws InvalidArgumentError that lists the valid ids */
export function strategyId(text: string): string {
  if (stockStrategies.has(text)) return text;
  throw new InvalidArgumentError(`There is no such strategy. Valid: ${strategyIds().join(", ")}.`);
}

/** `all`, or ids separated by commas. @throws InvalidArgumentError that lists the valid ids */
export function strategyList(text: string): "all" | string[] {
  if (text.trim() === "all") return "all";
  const ids = text.split(",").map((part) => part.trim());
  return [...new Set(ids.filter((id) => id !== "").map(strategyId))];
}

/** @throws InvalidArgumentError */
export function labUrl(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return text.replace(/\/+$/, "");
  throw new InvalidArgumentError("It must be a URL, as in http://127.0.0.1:3000.");
}

export function addSaleOptions(command: Command): Command {
  return command
    .option("--stock <n>", "units on sale", wholeNumber(1, 1_000_000), 100)
    .option("--buyers <n>", "buyers that start together, one purchase each", wholeNumber(1, MAX_BUYERS), 500)
    .option("--hold-ms <n>", "business logic inside the critical section", wholeNumber(0, 10_000), 5)
    .option("--ttl-ms <n>", "lease length, for strategies that have one", wholeNumber(100, 120_000), 5_000)
    .option("--wait-timeout-ms <n>", "how long a purchase waits for its lock", wholeNumber(0, 60_000), 10_000)
    .option("--no-fencing", "do not check the fencing tokens of a strategy that has them")
    .option("--nodes <n>", "store nodes that serve the run (default: all)", wholeNumber(1, 16))
    .option("--rate <n>", "purchases per second, instead of all buyers together", wholeNumber(1, 50_000))
    .option("--duration-ms <n>", "length of a run with --rate (default: 10000)", wholeNumber(500, 600_000))
    .option("--seed <n>", "seed of the load generator", wholeNumber(0, 2 ** 31 - 1), 1)
    .addOption(new Option("--engine <engine>", "load generator").choices(["k6", "builtin"]).default("k6"))
    .addOption(new Option("--target <kind>", "what is sold").choices(["product", "coupon"]).default("product"))
    .option("--target-id <n>", "row to sell (default: a new row)", wholeNumber(1, 2 ** 31 - 1))
    .addOption(
      new Option("--url <url>", "URL of a running lab (default: the lab of this checkout)")
        .env("LAB_URL")
        .argParser(labUrl),
    )
    .option("--json", "print only JSON on stdout");
}

/** @throws Error for flags that contradict each other */
export function refuseContradictions(flags: SaleFlags): void {
  if (flags.durationMs !== undefined && flags.rate === undefined) {
    throw new Error("--duration-ms is the length of a run with --rate. Add --rate, or remove --duration-ms.");
  }
}

/**
 * For flags that take every setting from an earlier run.
 * @throws Error if a setting is given together with such a flag
 */
export function refuseSettingsBeside(flag: string, command: Command, allowed: readonly string[]): void {
  const given = command.options.filter(
    (option) =>
      command.getOptionValueSource(option.attributeName()) === "cli" && !allowed.includes(option.attributeName()),
  );
  if (given.length === 0) return;
  const names = given.map((option) => option.long ?? option.flags).join(", ");
  throw new Error(`${flag} takes every setting from an earlier run, so it allows no other setting. Remove ${names}.`);
}

/** The body of `POST /api/runs` for a run that the lab loads itself. */
export function runRequestOf(flags: SaleFlags, strategy: string): Readonly<Record<string, unknown>> {
  const load =
    flags.rate === undefined ? { vus: flags.buyers } : { rate: flags.rate, durationMs: flags.durationMs ?? 10_000 };
  return {
    strategy,
    target: { kind: flags.target, ...(flags.targetId === undefined ? {} : { id: flags.targetId }) },
    stock: flags.stock,
    holdMs: flags.holdMs,
    ttlMs: flags.ttlMs,
    waitTimeoutMs: flags.waitTimeoutMs,
    ...(flags.fencing === false ? { fencing: false } : {}),
    ...(flags.nodes === undefined ? {} : { nodes: flags.nodes }),
    ...load,
    seed: flags.seed,
    engine: flags.engine,
    launch: true,
  };
}
