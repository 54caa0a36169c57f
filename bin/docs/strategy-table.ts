import type { StrategyTraits } from "../../lib/locks/types";
import { familyLabel } from "../../servers/families";

/** Builds the strategy tables of README.md and docs/strategies.md from the traits. */

const WAITING: Record<StrategyTraits["waiting"], string> = {
  none: "does not wait",
  queue: "waits in a queue",
  poll: "polls",
  notify: "waits for a notification",
  "row-queue": "waits for the row lock",
  retry: "retries with backoff",
};

const EXPIRY: Record<StrategyTraits["expiryClock"], string> = {
  none: "no expiry",
  server: "server",
  client: "client",
  session: "session timeout",
};

const SURVIVAL: Record<StrategyTraits["survives"]["holderCrash"], string> = {
  survives: "safe",
  blocks: "blocked",
  breaks: "**unsafe: two holders**",
  "not-applicable": "–",
};

/** For the README: the mechanism and the expected verdicts. */
export function shortTable(strategies: readonly StrategyTraits[]): string {
  const rows = strategies.map(({ id, mechanism, expected }) => {
    return `| \`${id}\` | ${cell(mechanism)} | ${expected.alone} | ${expected.threeNodes} |`;
  });
  return ["| strategy | mechanism | one node | three nodes |", "|---|---|---|---|", ...rows].join("\n");
}

/** For docs/strategies.md: one table per family, with the behavior under each failure. */
export function fullTables(strategies: readonly StrategyTraits[]): string {
  const families = [...new Set(strategies.map(({ family }) => family))];
  return families
    .map((family) => {
      const members = strategies.filter((strategy) => strategy.family === family);
      return `### ${familyLabel(family)}\n\n${[HEAD, RULE, ...members.map(fullRow)].join("\n")}`;
    })
    .join("\n\n");
}

const HEAD =
  "| strategy | mechanism | a waiter | fair | clock that expires the lock | fencing token | holder crashes | holder pauses past its lease | server restarts without its data |";
const RULE = "|---|---|---|---|---|---|---|---|---|";

function fullRow(traits: StrategyTraits): string {
  const { id, kind, mechanism, waiting, fair, expiryClock, fencingSource, survives } = traits;
  const cells = [
    `\`${id}\``,
    mechanism,
    WAITING[waiting],
    fair ? "yes" : "no",
    kind === "atomic" ? "–" : EXPIRY[expiryClock],
    fencingSource ?? "none",
    SURVIVAL[survives.holderCrash],
    SURVIVAL[survives.holderPause],
    SURVIVAL[survives.serverRestart],
  ];
  return `| ${cells.map(cell).join(" | ")} |`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

/**
 * Replaces the text between `<!-- generated:name -->` and `<!-- /generated:name -->`.
 * @throws Error when the page lacks these markers
 */
export function replaceGenerated(page: string, name: string, content: string): string {
  const start = `<!-- generated:${name} -->`;
  const end = `<!-- /generated:${name} -->`;
  const from = page.indexOf(start);
  const to = page.indexOf(end);
  if (from < 0 || to < from)
    throw new Error(`The page lacks the markers ${start} and ${end}. Add both where the generated part belongs.`);
  return `${page.slice(0, from + start.length)}\n${content}\n${page.slice(to)}`;
}
