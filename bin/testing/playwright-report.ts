import { z } from "zod";
import { addTallies, EMPTY_TALLY, type Tally, tallySkipped } from "./tally";

/** Counts the results in the report of Playwright's JSON reporter. */

const annotation = z.object({ type: z.string(), description: z.string().optional() });
const testSchema = z.object({
  status: z.enum(["expected", "unexpected", "flaky", "skipped"]),
  annotations: z.array(annotation).default([]),
});
const specSchema = z.object({ title: z.string(), tests: z.array(testSchema) });

interface Suite {
  readonly specs?: readonly z.infer<typeof specSchema>[];
  readonly suites?: readonly Suite[];
}
const suiteSchema: z.ZodType<Suite> = z.lazy(() =>
  z.object({ specs: z.array(specSchema).optional(), suites: z.array(suiteSchema).optional() }),
);
const reportSchema = z.object({
  suites: z.array(suiteSchema),
  errors: z.array(z.object({ message: z.string().optional() })).default([]),
});

export function tallyPlaywright(report: unknown, isCi: boolean): Tally {
  const { suites, errors } = reportSchema.parse(report);
  const tests = suites.flatMap(specsOf).flatMap((spec) => spec.tests.map((test) => tallyTest({ spec, test, isCi })));
  const failures = errors.map((error) => ({
    ...EMPTY_TALLY,
    failed: 1,
    remarks: [`playwright: ${(error.message ?? "an error without a message").split("\n")[0]}`],
  }));
  return addTallies([...tests, ...failures]);
}

function specsOf(suite: Suite): z.infer<typeof specSchema>[] {
  return [...(suite.specs ?? []), ...(suite.suites ?? []).flatMap(specsOf)];
}

function tallyTest(one: {
  readonly spec: z.infer<typeof specSchema>;
  readonly test: z.infer<typeof testSchema>;
  readonly isCi: boolean;
}): Tally {
  const { spec, test, isCi } = one;
  switch (test.status) {
    case "expected":
      return { ...EMPTY_TALLY, passed: 1 };
    case "flaky":
      return { ...EMPTY_TALLY, passed: 1, remarks: [`passed on a second attempt: ${spec.title}`] };
    case "unexpected":
      return { ...EMPTY_TALLY, failed: 1, remarks: [`failed: ${spec.title}`] };
    case "skipped": {
      const skip = test.annotations.find(({ type }) => type === "skip" || type === "fixme");
      return tallySkipped({ name: spec.title, reason: skip?.description ?? "no reason given" }, isCi);
    }
  }
}
