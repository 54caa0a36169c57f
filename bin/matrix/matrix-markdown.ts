import { faultsById } from "../../lib/faults/all-faults";
import type { FaultId } from "../../lib/faults/ids";
import { type MatrixCell, matrixCell } from "../../lib/runs/fault-matrix";
import { circumstances, commandOf, type MatrixReport, summaryOf, wordOf } from "./matrix-report";

/** docs/fault-matrix.md. */
export function matrixMarkdown(report: MatrixReport): string {
  const { faults, differing } = report;
  const lines = [
    "# Fault matrix",
    "",
    "`npm run lab -- faults` writes this page; do not edit it by hand. [faults.md](faults.md) describes the faults and their proof. The same",
    "table is on the page `/faults` of a running lab, where each cell opens its run.",
    "",
    ...circumstances(report).map((sentence) => `- ${sentence}`),
    "",
    ...(differing.length === 0 ? ["Every measured cell is as expected."] : differencesOf(differing)),
    "",
    "A dash: the fault does not apply. The control is the same strategy without a fault.",
    "",
    ...overview(report),
    "",
    ...[null, ...faults].flatMap((fault) => section(report, fault)),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}

function differencesOf(cells: readonly MatrixCell[]): string[] {
  return [
    "**These cells differ from what the traits predict:**",
    "",
    ...cells.map((cell) => `- ${nameOf(cell)}: expected ${cell.expected}, measured ${summaryOf(cell)}`),
  ];
}

function nameOf({ strategy, fault }: MatrixCell): string {
  return fault === null ? `\`${strategy}\` without a fault` : `\`${strategy}\` under \`${fault}\``;
}

function overview({ matrix, strategies, faults }: MatrixReport): string[] {
  const columns = [null, ...faults];
  const rows = strategies.map((strategy) => {
    const words = columns.map((fault) => mark(matrixCell(strategy, fault, matrix.results)));
    return `| \`${strategy}\` | ${words.join(" | ")} |`;
  });
  const head = columns.map((fault) => `[${fault ?? "control"}](#${fault ?? "control"})`);
  return [`| strategy | ${head.join(" | ")} |`, `|---${"|---".repeat(columns.length)}|`, ...rows];
}

function mark(cell: MatrixCell): string {
  const word = wordOf(cell);
  if (cell.differs) return `**${word}, not ${cell.expected}**`;
  return word;
}

function section({ measured }: MatrixReport, fault: FaultId | null): string[] {
  const cells = measured.filter((cell) => cell.fault === fault);
  if (cells.length === 0) return [];
  return [
    `## ${fault ?? "control"}`,
    "",
    fault === null ? "A sale without a fault." : faultsById[fault].does,
    "",
    "| strategy | expected | measured | why |",
    "|---|---|---|---|",
    ...cells.map(
      (cell) => `| \`${cell.strategy}\` | ${cell.expected} | ${escaped(summaryOf(cell))} | ${cell.reason} |`,
    ),
    "",
    "<details><summary>Commands that repeat these cells</summary>",
    "",
    "```sh",
    ...cells.map(commandOf),
    "```",
    "",
    "</details>",
    "",
  ];
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
