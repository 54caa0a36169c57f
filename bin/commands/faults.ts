import type { Command } from "commander";
import type { ExpectedEffect } from "../../lib/faults/fault";
import { FAULT_NOTATION } from "../../lib/faults/notation";
import { effectOf, type FaultOverview, faultOverview } from "../../lib/faults/overview";
import { traitsOf } from "../../lib/stock/stock-strategies";
import { strategyId } from "../runs/options";

interface FaultsFlags {
  readonly strategy?: string;
  readonly json?: boolean;
}

/** `npm run lab -- faults`: what can be done to a run, from the registry. */
export function addFaultsCommand(program: Command): void {
  program
    .command("faults")
    .description("list what can be done to a run, and which strategies break under it")
    .option("--strategy <id>", "what it does to this strategy, or why it cannot be done", strategyId)
    .option("--json", "print JSON")
    .action((flags: FaultsFlags) => console.log(flags.json ? json(flags) : text(flags)));
}

function json({ strategy }: FaultsFlags): string {
  const faults = faultOverview();
  if (strategy === undefined) return JSON.stringify(faults, null, 2);
  const traits = traitsOf(strategy);
  return JSON.stringify(
    faults.map(({ id, does }) => ({ id, does, ...effectOf(id, traits) })),
    null,
    2,
  );
}

function text({ strategy }: FaultsFlags): string {
  const blocks = faultOverview().map((fault) => (strategy === undefined ? block(fault) : oneOf(fault, strategy)));
  const usage = `npm run lab -- run --strategy ${strategy ?? "<id>"} --fault ${FAULT_NOTATION}`;
  return [...blocks, `  ${usage}`, ""].join("\n");
}

function block({ id, does, proof, strategies, notApplicable }: FaultOverview): string {
  const { breaks, stops, holds } = strategies;
  const lines = [
    `  ${id}`,
    `    ${does}`,
    `    proof   ${proof}`,
    `    breaks  ${breaks.join(", ") || "nothing that is safe without it"}`,
    ...(stops.length === 0 ? [] : [`    stops   ${stops.join(", ")}`]),
    `    holds   ${holds.join(", ") || "none"}`,
    ...notApplicable.map(({ reason, strategies: ids }) => `    not for ${ids.join(", ")}: ${reason}`),
    "",
  ];
  return lines.join("\n");
}

function oneOf({ id, does }: FaultOverview, strategy: string): string {
  const effect = effectOf(id, traitsOf(strategy));
  const said =
    "reason" in effect ? `cannot be done to ${strategy}: ${effect.reason}` : `${FATES[effect.fate]} ${strategy}`;
  return [`  ${id}`, `    ${does}`, `    ${said}`, ""].join("\n");
}

const FATES: Record<ExpectedEffect, string> = {
  breaks: "expected to break",
  stops: "expected to stop the sale of",
  holds: "expected to leave as it is:",
};
