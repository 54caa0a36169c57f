import type { FaultOverview } from "../../lib/faults/overview";

/** The fault table of the docs, made from the registry and the strategies' traits. */
export function faultTables(faults: readonly FaultOverview[]): string {
  return faults.map(section).join("\n\n");
}

function section({ id, does, proof, strategies, notApplicable }: FaultOverview): string {
  const rows = [
    `| breaks | ${codes(strategies.breaks)} |`,
    ...(strategies.stops.length === 0 ? [] : [`| stops the sale of | ${codes(strategies.stops)} |`]),
    `| leaves safe | ${codes(strategies.holds)} |`,
    ...notApplicable.map(({ reason, strategies }) => `| cannot be done to | ${codes(strategies)}: ${reason} |`),
  ];
  return [`### \`${id}\``, "", `${does} Proof: ${proof}.`, "", "| | strategies |", "|---|---|", ...rows].join("\n");
}

function codes(ids: readonly string[]): string {
  return ids.length === 0 ? "–" : ids.map((id) => `\`${id}\``).join(", ");
}
