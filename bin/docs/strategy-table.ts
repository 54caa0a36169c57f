import type { StrategyTraits } from "../../lib/locks/types";

/** The strategy tables of README and docs, made from the traits, which are the one declaration. */

const FAMILY_TITLES: Record<StrategyTraits["family"], string> = {
  baseline: "No lock, and one process",
  sql: "SQL",
  redis: "Redis, one server",
  redlock: "Redis, five servers",
  memcached: "Memcached",
  zookeeper: "ZooKeeper",
  etcd: "etcd",
};

const WAITING: Record<StrategyTraits["waiting"], string> = {
  none: "does not wait",
  queue: "in a queue",
  poll: "asks again and again",
  notify: "is woken",
  "row-queue": "in the row's own queue",
  retry: "tries again",
};

const SURVIVAL: Record<StrategyTraits["survives"]["holderCrash"], string> = {
  survives: "holds",
  blocks: "blocks",
  breaks: "**breaks**",
  "not-applicable": "–",
};

/** Short: what it does and whether it holds. */
export function shortTable(strategies: readonly StrategyTraits[]): string {
  const rows = strategies.map(({ id, mechanism, expected }) => {
    return `| \`${id}\` | ${cell(mechanism)} | ${expected.alone} | ${expected.threeNodes} |`;
  });
  return ["| strategy | how | one node | three nodes |", "|---|---|---|---|", ...rows].join("\n");
}

/** Long: family by family, with what each survives. */
export function fullTables(strategies: readonly StrategyTraits[]): string {
  const families = [...new Set(strategies.map(({ family }) => family))];
  return families
    .map((family) => {
      const members = strategies.filter((strategy) => strategy.family === family);
      return `### ${FAMILY_TITLES[family]}\n\n${[HEAD, RULE, ...members.map(fullRow)].join("\n")}`;
    })
    .join("\n\n");
}

const HEAD =
  "| strategy | how | a contender | fair | whose clock ends a dead hold | fencing token | holder dies | holder pauses past its lease | server restarts empty |";
const RULE = "|---|---|---|---|---|---|---|---|---|";

function fullRow({ id, mechanism, waiting, fair, expiryClock, fencingSource, survives }: StrategyTraits): string {
  const cells = [
    `\`${id}\``,
    mechanism,
    WAITING[waiting],
    fair ? "yes" : "no",
    expiryClock === "none" ? "–" : expiryClock,
    fencingSource ?? "–",
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
 * Replaces what stands between `<!-- generated:name -->` and `<!-- /generated:name -->`.
 * @throws Error when the page has no such markers
 */
export function replaceGenerated(page: string, name: string, content: string): string {
  const start = `<!-- generated:${name} -->`;
  const end = `<!-- /generated:${name} -->`;
  const from = page.indexOf(start);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`the page has no ${start} ... ${end}`);
  return `${page.slice(0, from + start.length)}\n${content}\n${page.slice(to)}`;
}
