import type { FaultEffects } from "../../lib/faults/fault-effects";

/** Builds the tables of docs/faults.md from the faults and the traits of the strategies. */
export function faultTables(faults: readonly FaultEffects[]): string {
  return faults.map(section).join("\n\n");
}

function section({ id, does, proof, harm = "two holders", strategies, notApplicable }: FaultEffects): string {
  const rows = [
    `| unsafe: ${harm} | ${codes(strategies.unsafe)} |`,
    ...(strategies.blocked.length === 0 ? [] : [`| blocked: the sale stops | ${codes(strategies.blocked)} |`]),
    `| safe | ${codes(strategies.safe)} |`,
    ...notApplicable.map(({ reason, strategies }) => `| does not apply to | ${codes(strategies)}: ${reason} |`),
  ];
  return [
    `### \`${id}\``,
    "",
    `${does} Proof: ${proof}.`,
    "",
    "| under this fault | strategies |",
    "|---|---|",
    ...rows,
  ].join("\n");
}

function codes(ids: readonly string[]): string {
  return ids.length === 0 ? "–" : ids.map((id) => `\`${id}\``).join(", ");
}
