import { z } from "zod";

/** Counts test cases for the last line of `npm test`. Pure. */

export const tallySchema = z.object({
  passed: z.int().min(0),
  failed: z.int().min(0),
  skips: z.array(z.object({ name: z.string(), reason: z.string() })).readonly(),
  /** What could not be checked, with the reason; neither passed nor failed. */
  notChecked: z.array(z.string()).readonly(),
  /** One line for each failure; printed before the last line. */
  remarks: z.array(z.string()).readonly(),
});
export type Tally = Readonly<z.infer<typeof tallySchema>>;
type Skip = Tally["skips"][number];

export const EMPTY_TALLY: Tally = { passed: 0, failed: 0, skips: [], notChecked: [], remarks: [] };

export function failure(remark: string): Tally {
  return { ...EMPTY_TALLY, failed: 1, remarks: [remark] };
}

export function addTallies(tallies: readonly Tally[]): Tally {
  return tallies.reduce(
    (sum, tally) => ({
      passed: sum.passed + tally.passed,
      failed: sum.failed + tally.failed,
      skips: [...sum.skips, ...tally.skips],
      notChecked: [...sum.notChecked, ...tally.notChecked],
      remarks: [...sum.remarks, ...tally.remarks],
    }),
    EMPTY_TALLY,
  );
}

/** One event of node:test, reduced to what counting needs. */
export interface TestEvent {
  readonly outcome: "pass" | "fail";
  readonly name: string;
  /** Several tests may share a name. */
  readonly file?: string;
  readonly isSuite: boolean;
  /** `true` or the reason. */
  readonly skip: boolean | string | undefined;
  readonly todo: boolean | string | undefined;
  readonly failureType: string | undefined;
}

/** The reason that node:test gives for tests that `--filter` excludes. */
const FILTERED_OUT = "test name does not match pattern";
/** The only reason to skip a test in CI: what it tests cannot exist on this machine. */
const ALLOWED_SKIP = /^not applicable: \S/;

/**
 * Does not count suites, nor tests that failed only because a subtest failed. A file that reports itself as a test has
 * crashed or holds no test, and both count as failures.
 */
export function tallyEvent(event: TestEvent, context: { files: ReadonlySet<string>; isCi: boolean }): Tally {
  if (event.isSuite || event.failureType === "subtestsFailed" || event.skip === FILTERED_OUT) return EMPTY_TALLY;
  if (context.files.has(event.name)) {
    return failure(`${event.name} ${event.outcome === "fail" ? "crashed" : "holds no test"}`);
  }
  if (event.skip !== undefined || event.todo !== undefined) return tallySkip(event, context.isCi);
  return event.outcome === "pass" ? { ...EMPTY_TALLY, passed: 1 } : failure(`failed: ${event.name}${placeOf(event)}`);
}

function placeOf({ file }: TestEvent): string {
  return file === undefined ? "" : ` (${file})`;
}

function tallySkip(event: TestEvent, isCi: boolean): Tally {
  const reason = event.skip ?? event.todo;
  return tallySkipped({ name: event.name, reason: typeof reason === "string" ? reason : "no reason given" }, isCi);
}

/** A skipped test. In CI it is a failure, unless the reason is that the test does not apply to this machine. */
export function tallySkipped(skip: Skip, isCi: boolean): Tally {
  if (isCi && !ALLOWED_SKIP.test(skip.reason)) {
    return failure(`skipped: ${skip.name} (${skip.reason}); in CI a skip is a failure`);
  }
  return { ...EMPTY_TALLY, skips: [skip] };
}

/** One line for each reason, then the skipped tests. */
export function skipLines({ skips }: Tally): string[] {
  const byReason = new Map<string, string[]>();
  for (const { name, reason } of skips) byReason.set(reason, [...(byReason.get(reason) ?? []), name]);
  return [...byReason].flatMap(([reason, names]) => [
    `${names.length} skipped, ${reason}:`,
    ...names.map((name) => `  ${name}`),
  ]);
}

/** The last line. */
export function lastLine(tally: Tally): string {
  return `${tally.passed} passed, ${tally.failed} failed`;
}
