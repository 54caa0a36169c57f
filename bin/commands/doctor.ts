import type { Command } from "commander";
import { examine, type Finding } from "../doctor/examine";
import { print } from "../shared/terminal";

const MARKS: Readonly<Record<Finding["status"], string>> = { ok: "✓", note: "·", missing: "–", broken: "✗" };
const NAME_WIDTH = 18;

/** `npm run lab -- doctor`: changes nothing. Exit 0 if the lab can start, 1 if it cannot. */
export function addDoctorCommand(program: Command): void {
  program
    .command("doctor")
    .description("print what this machine has, what is missing, and the fix for each; exit 1 if the lab cannot start")
    .option("--json", "print JSON: {canStart, findings: [{name, status, detail, fix}]}")
    .action(async ({ json }: { json?: boolean }) => {
      const findings = await examine();
      const canStart = findings.every(({ status }) => status !== "broken");
      process.exitCode = canStart ? 0 : 1;
      if (json) {
        print(JSON.stringify({ canStart, findings }, null, 2));
        return;
      }
      for (const { name, status, detail, fix } of findings) {
        print(`${MARKS[status]} ${name.padEnd(NAME_WIDTH)} ${detail}`);
        if (fix) print(`  ${"".padEnd(NAME_WIDTH)} fix: ${fix}`);
      }
      print(`\n${canStart ? "`npm start` can start the lab." : "The lab cannot start: see ✗ above."}`);
    });
}
