import { Markup, markup } from "../../app/_lib/export/markup";
import { type MatrixCell, matrixCell } from "../../lib/runs/fault-matrix";
import { circumstances, commandOf, type MatrixReport, summaryOf, wordOf } from "./matrix-report";

/** The matrix as one HTML file that opens offline. */
export function matrixHtml(report: MatrixReport): string {
  const { matrix, strategies, faults, measured, differing } = report;
  const columns = [null, ...faults];
  const rows = strategies.map((strategy) => {
    const cells = columns.map((fault) => tableCell(matrixCell(strategy, fault, matrix.results)));
    return markup`<tr><th scope="row">${strategy}</th>${cells}</tr>`;
  });
  const verdict = differing.length === 0 ? "Every measured cell is as expected." : `${differing.length} cells differ.`;
  const page = markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Fault matrix</title><style>${STYLE}</style></head><body><main>
<h1>Fault matrix</h1>
<p>${verdict} Select a cell to read why, and how to repeat it.</p>
<ul>${circumstances(report).map((sentence) => markup`<li>${sentence}</li>`)}</ul>
<div class="box" tabindex="0" role="region" aria-label="Fault matrix"><table><thead><tr><th scope="col">Strategy</th>${columns.map((fault) => markup`<th scope="col">${fault ?? "control"}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>
<h2>Cells</h2>${measured.map(explained)}
</main></body></html>
`;
  return page.text;
}

function tableCell(cell: MatrixCell): Markup {
  const word = wordOf(cell);
  if (cell.results.length === 0) return markup`<td class="none" title="${cell.reason}">${word}</td>`;
  const expected = cell.differs ? markup` <small>expected ${cell.expected}</small>` : null;
  return markup`<td class="${cell.differs ? "differs" : word}"><a href="#${idOf(cell)}">${word}</a>${expected}</td>`;
}

function explained(cell: MatrixCell): Markup {
  const { strategy, fault, expected, reason } = cell;
  const proofs = [...new Set(cell.results.flatMap(({ evidence }) => evidence ?? []))];
  return markup`<section id="${idOf(cell)}"><h3>${strategy}, ${fault ?? "control"}</h3>
<p>${summaryOf(cell)}. Expected ${expected}: ${reason}</p>${proofs.map((proof) => markup`<p class="muted">${proof}</p>`)}
<pre>${commandOf(cell)}</pre></section>`;
}

function idOf({ strategy, fault }: MatrixCell): string {
  return `${strategy}--${fault ?? "control"}`;
}

const STYLE = new Markup(`
:root{color-scheme:light dark;--paper:light-dark(#fbfbf9,#101215);--ink:light-dark(#16181d,#eceff2);--muted:light-dark(#5f656e,#98a0a9);--line:light-dark(#e4e4df,#2a2e34);--alarm:light-dark(#b84607,#ff8a4c);--safe:light-dark(#00785a,#3fcf9f);--differs:light-dark(#b3001b,#ff6b7d)}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:14px/1.5 system-ui,sans-serif}main{padding:24px 20px 48px}
h1{font-size:22px;margin:0}h2{font-size:16px}h3{font-size:14px;margin:16px 0 4px}p{margin:0 0 4px;max-width:60em}.muted,small{color:var(--muted)}
.box{overflow:auto;max-height:85vh;border:1px solid var(--line)}table{border-collapse:separate;border-spacing:0;font-size:12px}
th,td{padding:3px 8px;border-bottom:1px solid var(--line);text-align:left;white-space:nowrap;background:var(--paper)}
thead th{position:sticky;top:0;z-index:1}tbody th,thead th:first-child{position:sticky;left:0}thead th:first-child{z-index:2}
td a{color:inherit}.safe{color:var(--safe)}.unsafe,.blocked{color:var(--alarm)}.none{color:var(--muted)}.differs{color:var(--differs);font-weight:700;outline:2px solid var(--differs);outline-offset:-2px}
pre{overflow:auto;padding:6px 10px;border:1px solid var(--line)}
`);
