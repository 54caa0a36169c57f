import type { Command } from "commander";
import { type FaultOverview, fateOf, faultOverview } from "../../lib/faults/overview";
import { traitsOf } from "../../lib/stock/registry";
import { FAULT_SYNTAX } from "../runs/fault-option";
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
    faults.map(({ id, does }) => ({ id, does, ...fateOf(id, traits) })),
    null,
    2,
  );
}

function text({ strategy }: FaultsFlags): string {
  const blocks = faultOverview().map((fault) => (strategy === undefined ? block(fault) : oneOf(fault, strategy)));
  const usage = `npm run lab -- run --strategy ${strategy ?? "<id>"} --fault ${FAULT_SYNTAX}`;
  return [...blocks, `  ${usage}`, ""].join("\n");
}

function block({ id, does, proof, breaks, safe, notApplicable }: FaultOverview): string {
  const lines = [
    `  ${id}`,
    `    ${does}`,
    `    proof   ${proof}`,
    `    breaks  ${breaks.join(", ") || "nothing that is safe without it"}`,
    `    safe    ${safe.join(", ") || "none"}`,
    ...notApplicable.map(({ reason, strategies }) => `    not for ${strategies.join(", ")}: ${reason}`),
    "",
  ];
  return lines.join("\n");
}

function oneOf({ id, does }: FaultOverview, strategy: string): string {
  const { fate, reason } = fateOf(id, traitsOf(strategy));
  const words = {
    breaks: `expected to break ${strategy}`,
    safe: `expected to leave ${strategy} as it is`,
    "not-applicable": `cannot be done to ${strategy}: ${reason}`,
  };
  return [`  ${id}`, `    ${does}`, `    ${words[fate]}`, ""].join("\n");
}
