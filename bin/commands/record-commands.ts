import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Command } from "commander";
import { scriptSource } from "../../lib/locks/redis/script";
import { prisma } from "../../lib/services/postgres";
import type { RecordedCommands, Recording } from "../../lib/stock/recorded-commands";
import { stockStrategies } from "../../lib/stock/stock-strategies";
import { recordStrategy } from "../record/record-strategy";
import { print } from "../shared/terminal";
import { ROOT } from "../supervisor/paths";
import { withServers } from "../supervisor/with-servers";

const SERVERS = { instance: "record", portBase: 27_200 };
const FILE = join(ROOT, "lib", "stock", "recorded-commands.json");
const STOCK = 100;

/** `npm run lab -- record-commands`: two purchases per strategy on real servers, through proxies that read them. */
export function addRecordCommandsCommand(program: Command): void {
  program
    .command("record-commands")
    .description("record the commands that each strategy sends and write lib/stock/recorded-commands.json")
    .action(async () => {
      const recorded = await withServers(SERVERS, recordAll);
      await writeFile(FILE, `${JSON.stringify(recorded, null, 1)}\n`);
      print(`wrote ${relative(process.cwd(), FILE)}`);
    });
}

async function recordAll(signal: AbortSignal): Promise<RecordedCommands> {
  const strategies: Record<string, Recording> = {};
  try {
    for (const id of stockStrategies.keys()) {
      signal.throwIfAborted();
      strategies[id] = await recordStrategy(id, await newProduct(id));
      print(`${id}: ${strategies[id].steps.length} steps`);
    }
  } finally {
    await prisma().$disconnect();
  }
  return { scripts: scriptsOf(Object.values(strategies)), strategies };
}

async function newProduct(strategyId: string) {
  const slug = `recording-${strategyId}-${randomUUID()}`;
  const data = { slug, name: `Recording of ${strategyId}`, priceCents: 100, stock: STOCK, runId: slug };
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
