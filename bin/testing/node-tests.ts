import { writeFileSync } from "node:fs";
import path from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { addTallies, EMPTY_TALLY, type Tally, tallyEvent } from "./tally";

/**
 * Runs test files by node:test, a process each, and writes how many passed. A program of its own, so that the command
 * that starts it can end it with all it started. Its one argument is the JSON below.
 */
const orderSchema = z.object({
  files: z.array(z.string()).min(1),
  concurrency: z.int().min(1),
  fileTimeoutMs: z.int().min(1),
  filter: z.string().nullable(),
  isCi: z.boolean(),
  resultFile: z.string(),
});
export type NodeTestOrder = z.infer<typeof orderSchema>;

interface EventData {
  readonly name: string;
  readonly file?: string;
  readonly skip?: boolean | string;
  readonly todo?: boolean | string;
  readonly details: { readonly type?: string; readonly error?: { readonly failureType?: string } };
}

function main(): void {
  const order = orderSchema.parse(JSON.parse(process.argv[2] ?? "null"));
  const context = { files: new Set(order.files), isCi: order.isCi };
  let tally: Tally = EMPTY_TALLY;
  const count = (outcome: "pass" | "fail") => (data: EventData) => {
    const { name, skip, todo, details } = data;
    const failureType = details.error?.failureType;
    const file = data.file === undefined ? undefined : relativePath(data.file);
    const event = { outcome, name, file, isSuite: details.type === "suite", skip, todo, failureType };
    tally = addTallies([tally, tallyEvent(event, context)]);
    // Every time, so that a run that is cut short has told what it had found.
    writeFileSync(order.resultFile, JSON.stringify(tally));
  };
  const stream = run({
    files: order.files,
    concurrency: order.concurrency,
    timeout: order.fileTimeoutMs,
    ...(order.filter === null ? {} : { testNamePatterns: [order.filter] }),
  });
  stream.on("test:pass", count("pass")).on("test:fail", count("fail"));
  stream.once("end", () => {
    process.exitCode = tally.failed === 0 ? 0 : 1;
  });
  stream.compose<NodeJS.ReadWriteStream>(new spec()).pipe(process.stdout);
}

/** Older versions of Node.js name the file by its URL. */
function relativePath(file: string): string {
  return path.relative(process.cwd(), file.startsWith("file:") ? fileURLToPath(file) : file);
}

main();
