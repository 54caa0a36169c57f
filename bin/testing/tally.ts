/** Counting test cases: what the last line of `npm test` is made of. Pure. */

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skips: readonly Skip[];
  /** Why each failed one is worth a look; shown before the last line. */
  readonly remarks: readonly string[];
}

/** A test that was left out. */
export interface Skip {
  readonly name: string;
  readonly reason: string;
}

export const EMPTY_TALLY: Tally = { passed: 0, failed: 0, skips: [], remarks: [] };

export function addTallies(tallies: readonly Tally[]): Tally {
  return tallies.reduce(
    (sum, tally) => ({
      passed: sum.passed + tally.passed,
      failed: sum.failed + tally.failed,
      skips: [...sum.skips, ...tally.skips],
      remarks: [...sum.remarks, ...tally.remarks],
    }),
    EMPTY_TALLY,
  );
}

/** One outcome of node:test, reduced to what counting needs. */
export interface TestEvent {
  readonly outcome: "pass" | "fail";
  readonly name: string;
  /** Where it is; several tests may have one name. */
  readonly file?: string;
  readonly isSuite: boolean;
  /** `true` or the reason. */
  readonly skip: boolean | string | undefined;
  readonly todo: boolean | string | undefined;
  readonly failureType: string | undefined;
}

/** What node:test says of tests that `--filter` left out. */
const FILTERED_OUT = "test name does not match pattern";
/** The one reason a test may be left out in CI: what it tests cannot exist on this machine. */
const ALLOWED_SKIP = /^not applicable: \S/;

/**
 * Suites, and tests that only failed through their subtests, are not counted. A file reports itself as a test when
 * nothing in it did: it crashed, or holds no test at all, and neither may pass.
 */
export function tallyEvent(event: TestEvent, context: { files: ReadonlySet<string>; isCi: boolean }): Tally {
  if (event.isSuite || event.failureType === "subtestsFailed" || event.skip === FILTERED_OUT) return EMPTY_TALLY;
  if (context.files.has(event.name)) {
    const remark = event.outcome === "fail" ? `${event.name} crashed` : `${event.name} holds no test`;
    return { ...EMPTY_TALLY, failed: 1, remarks: [remark] };
  }
  if (event.skip !== undefined || event.todo !== undefined) return tallySkip(event, context.isCi);
  return event.outcome === "pass"
    ? { ...EMPTY_TALLY, passed: 1 }
    : { ...EMPTY_TALLY, failed: 1, remarks: [`failed: ${event.name}${placeOf(event)}`] };
}

function placeOf({ file }: TestEvent): string {
  return file === undefined ? "" : ` (${file})`;
}

function tallySkip(event: TestEvent, isCi: boolean): Tally {
  const reason = event.skip ?? event.todo;
  return tallySkipped({ name: event.name, reason: typeof reason === "string" ? reason : "no reason given" }, isCi);
}

/** A skipped test: in CI a failure, unless its reason is that it is not applicable here. */
export function tallySkipped(skip: Skip, isCi: boolean): Tally {
  if (isCi && !ALLOWED_SKIP.test(skip.reason)) {
    const remark = `skipped: ${skip.name} (${skip.reason}); in CI that is a failure`;
    return { ...EMPTY_TALLY, failed: 1, remarks: [remark] };
  }
  return { ...EMPTY_TALLY, skips: [skip] };
}

/** One line a reason, then the tests that were left out for it. */
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
