import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Command } from "commander";
import { scriptSource } from "../../lib/locks/redis/script";
import { prisma } from "../../lib/services/postgres";
import { type RecordedCommands, type Recording, recordedCommands } from "../../lib/stock/recorded-commands";
import { stockStrategies, traitsOf } from "../../lib/stock/stock-strategies";
import { recordStrategy } from "../record/record-strategy";
import { print } from "../shared/terminal";
import { ROOT } from "../supervisor/paths";
import { withServers } from "../supervisor/with-servers";

const SERVERS = { instance: "record", portBase: 27_200 };
const FILE = join(ROOT, "lib", "stock", "recorded-commands.json");
const STOCK = 100;
/** Both buyers buy once before the recording, so one unit is left: enough to show a decrement without a condition. */
const SCARCE_STOCK = 3;

/** `npm run lab -- record-commands`: two purchases per strategy on real servers, through proxies that read them. */
export function addRecordCommandsCommand(program: Command): void {
  program
    .command("record-commands")
    .description("record the commands that each strategy sends and write lib/stock/recorded-commands.json")
    .argument("[strategies...]", "the strategies to record again (default: all)", [...stockStrategies.keys()])
    .action(async (ids: readonly string[]) => {
      const recorded = await withServers(SERVERS, (signal) => recordAll(ids, signal));
      await writeFile(FILE, `${JSON.stringify(recorded, null, 1)}\n`);
      print(`wrote ${relative(process.cwd(), FILE)}`);
    });
}

async function recordAll(ids: readonly string[], signal: AbortSignal): Promise<RecordedCommands> {
  const strategies: Record<string, Recording> = { ...recordedCommands.strategies };
  try {
    for (const id of ids) {
      signal.throwIfAborted();
      strategies[id] = await recordStrategy(id, await newProduct(id));
      print(`${id}: ${strategies[id].steps.length} steps`);
    }
  } finally {
    await prisma().$disconnect();
  }
  const known = [...stockStrategies.keys()].flatMap((id) => (strategies[id] ? [[id, strategies[id]] as const] : []));
  return { scripts: scriptsOf(known.map(([, recording]) => recording)), strategies: Object.fromEntries(known) };
}

async function newProduct(strategyId: string) {
  const slug = `recording-${strategyId}-${randomUUID()}`;
  const { kind, expected } = traitsOf(strategyId);
  const stock = kind === "atomic" && expected.alone === "unsafe" ? SCARCE_STOCK : STOCK;
  const data = { slug, name: `Recording of ${strategyId}`, priceCents: 100, stock, runId: slug };
  return { kind: "product", id: (await prisma().product.create({ data })).id } as const;
}

function scriptsOf(recordings: readonly Recording[]): Record<string, string> {
  const called = recordings.flatMap(({ steps }) =>
    steps.flatMap((step) => (step.kind === "command" && step.script !== undefined ? [step.script] : [])),
  );
  const sources = [...new Set(called)].sort().map((sha1) => {
    const source = scriptSource(sha1);
    if (source === undefined)
      throw new Error(`The strategies called a script with the SHA-1 ${sha1} that none of them defines.`);
    return [sha1, source] as const;
  });
  return Object.fromEntries(sources);
}
