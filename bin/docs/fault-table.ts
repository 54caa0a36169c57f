import type { FaultOverview } from "../../lib/faults/overview";

/** Builds the tables of docs/faults.md from the faults and the traits of the strategies. */
export function faultTables(faults: readonly FaultOverview[]): string {
  return faults.map(section).join("\n\n");
}

function section({ id, does, proof, strategies, notApplicable }: FaultOverview): string {
  const rows = [
    `| unsafe: two holders | ${codes(strategies.breaks)} |`,
    ...(strategies.stops.length === 0 ? [] : [`| blocked: the sale stops | ${codes(strategies.stops)} |`]),
    `| safe | ${codes(strategies.holds)} |`,
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
