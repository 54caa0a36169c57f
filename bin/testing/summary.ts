import { lastLine, skipLines, type Tally } from "./tally";

/** Prints the summary of a test run; its last line is `N passed, N failed`. @returns the exit code */
export function printSummary(tally: Tally, propertySeed: number): number {
  console.log("");
  for (const line of skipLines(tally)) console.log(`  ${line}`);
  for (const remark of tally.remarks) console.log(`  ${remark}`);
  for (const line of tally.notChecked) console.log(`  ${line}`);
  if (tally.failed > 0) console.log(`  PROPERTY_SEED=${propertySeed} repeats the same random cases`);
  console.log(lastLine(tally));
  return tally.failed === 0 && tally.passed > 0 ? 0 : 1;
}
