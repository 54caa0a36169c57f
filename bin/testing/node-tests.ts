import { writeFileSync } from "node:fs";
import path from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { z } from "zod";
import { addTallies, EMPTY_TALLY, failure, type Tally, tallyEvent } from "./tally";

/**
 * Runs test files by node:test, each in a process, and writes how many tests passed. A program, so that the command that
 * starts it can end it together with all processes that it started. Its only argument is the JSON below.
 */
const orderSchema = z.object({
  batches: z.array(z.object({ files: z.array(z.string()), concurrency: z.int().min(1) })),
  fileTimeoutMs: z.int().min(1),
  filter: z.string().nullable(),
  isCi: z.boolean(),
  resultFile: z.string(),
  bundleDir: z.string(),
  /** Test files, from the checkout's root, each of which must hold a test. Empty if each has its own process, which reports that. */
  sources: z.array(z.string()),
  isQuiet: z.boolean(),
});
export type NodeTestOrder = z.infer<typeof orderSchema>;

interface EventData {
  readonly name: string;
  readonly file?: string;
  readonly skip?: boolean | string;
  readonly todo?: boolean | string;
  readonly details: { readonly type?: string; readonly error?: Error & { readonly failureType?: string } };
}

async function main(): Promise<void> {
  const order = orderSchema.parse(JSON.parse(process.argv[2] ?? "null"));
  const counter = new Counter(order);
  for (const batch of order.batches) if (batch.files.length > 0) await runBatch(batch, { order, counter });
  counter.end();
  process.exitCode = counter.tally.failed === 0 ? 0 : 1;
}

async function runBatch(
  { files, concurrency }: NodeTestOrder["batches"][number],
  { order, counter }: { readonly order: NodeTestOrder; readonly counter: Counter },
): Promise<void> {
  const stream = run({
    files,
    concurrency,
    timeout: order.fileTimeoutMs,
    ...(order.filter === null ? {} : { testNamePatterns: [order.filter] }),
  });
  stream.on("test:pass", (data: EventData) => counter.count("pass", data));
  stream.on("test:fail", (data: EventData) => counter.count("fail", data));
  const output = order.isQuiet ? stream.compose<NodeJS.ReadWriteStream>(failuresOnly) : stream.compose(new spec());
  // One file after the other, in their order: node:test holds a file's output back until the files before it are done.
  for await (const text of output) process.stdout.write(text);
}

class Counter {
  tally: Tally = EMPTY_TALLY;
  readonly #order: NodeTestOrder;
  readonly #files: ReadonlySet<string>;
  readonly #seen = new Set<string>();
  #hasCrashed = false;

  constructor(order: NodeTestOrder) {
    this.#order = order;
    this.#files = new Set(order.batches.flatMap(({ files }) => files.map((file) => this.#sourceOf(file))));
  }

  count(outcome: "pass" | "fail", { name: given, file, skip, todo, details }: EventData): void {
    const name = given.startsWith(this.#order.bundleDir) ? this.#sourceOf(given) : given;
    const isFile = this.#files.has(name);
    if (isFile && outcome === "fail") this.#hasCrashed = true;
    if (isFile && outcome === "pass" && this.#order.sources.length > 0) return;
    const source = file === undefined ? undefined : this.#sourceOf(file);
    if (source !== undefined) this.#seen.add(source);
    const event = {
      outcome,
      name,
      file: source,
      isSuite: details.type === "suite",
      skip,
      todo,
      failureType: details.error?.failureType,
    };
    this.#add(tallyEvent(event, { files: this.#files, isCi: this.#order.isCi }));
  }

  /** Not after a crash: the tests of the other files in the bundle did not run either. */
  end(): void {
    if (this.#hasCrashed || this.#order.filter !== null) return;
    const empty = this.#order.sources.filter((source) => !this.#seen.has(source));
    for (const source of empty) this.#add(failure(`${source} holds no test`));
  }

  /** Written after every event, so that a run that is cut short has reported what it found. */
  #add(tally: Tally): void {
    this.tally = addTallies([this.tally, tally]);
    writeFileSync(this.#order.resultFile, JSON.stringify(this.tally));
  }

  /** From the checkout's root. Some versions of Node.js give a URL, and some the bundle in place of its source. */
  #sourceOf(file: string): string {
    const absolute = file.startsWith("file:") ? fileURLToPath(file) : path.resolve(file);
    const { bundleDir } = this.#order;
    if (!absolute.startsWith(bundleDir)) return path.relative(process.cwd(), absolute);
    return path.relative(bundleDir, absolute).replace(/\.mjs$/, ".ts");
  }
}

/** A reporter for the ten-second loop. */
async function* failuresOnly(events: AsyncIterable<{ readonly type: string; readonly data: unknown }>) {
  for await (const { type, data } of events) {
    if (type === "test:stderr" || type === "test:stdout") yield (data as { message: string }).message;
    if (type !== "test:fail") continue;
    const { name, file, details } = data as EventData;
    if (details.error?.failureType === "subtestsFailed") continue;
    yield `\n✖ ${name} (${file})\n${inspect(details.error?.cause ?? details.error)}\n`;
  }
}

await main();
