import { LabLink } from "@/app/_components/ui/lab-link";
import type { SweepGrid as Grid } from "@/app/_lib/compare-model";
import { TONE_TEXT, toneOf } from "@/app/_lib/verdict";
import { VerdictWord } from "../ui/verdict-word";
import { SweepControl } from "./sweep-control";
import styles from "./sweep-grid.module.css";

type Cell = Grid["cells"][number];

function CellMark({ cell }: { cell: Cell | undefined }) {
  const run = cell?.run ?? null;
  if (run === null) return <span className={styles.open}>not started</span>;
  if (run.status === "running") return <span className={styles.running}>running</span>;
  return (
    <LabLink href={`/runs/${run.id}`} aria-label={`${cell?.strategy}, run ${cell?.repeat}: ${TONE_TEXT[toneOf(run)]}`}>
      <VerdictWord tone={toneOf(run)} />
    </LabLink>
  );
}

/** Grid of the sweep's runs, one row per strategy and one column per repeat; fills while the sweep runs. */
export function SweepGrid({ grid }: { grid: Grid }) {
  const { id, strategies, repeats, done, total, cells, active } = grid;
  const columns = Array.from({ length: repeats }, (_, index) => index + 1);
  const isComplete = done === total;
  return (
    <section className={styles.sweep} aria-label="Sweep" data-testid="sweep" data-done={done} data-total={total}>
      <header className={styles.head}>
        <h2>
          Sweep <code>{id}</code>
        </h2>
        <p>
          <b className="mono">{done}</b> <span className="unit">of {total} runs</span>
        </p>
      </header>
      <progress className={styles.bar} value={done} max={total} aria-label="Finished runs" />
      {isComplete ? null : (
        <SweepControl id={id} active={active} hasRunningRun={cells.some(({ run }) => run?.status === "running")} />
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section className={styles.scroll} tabIndex={0} aria-label="Runs of the sweep">
        <table className={styles.grid}>
          <caption className="visually-hidden">Runs of the sweep: one row per strategy, one column per repeat</caption>
          <thead>
            <tr>
              <th scope="col">strategy</th>
              {columns.map((repeat) => (
                <th key={repeat} scope="col">
                  run {repeat}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {strategies.map((strategy) => (
              <tr key={strategy}>
                <th scope="row" className="mono">
                  {strategy}
                </th>
                {columns.map((repeat) => (
                  <td key={repeat}>
                    <CellMark cell={cells.find((cell) => cell.strategy === strategy && cell.repeat === repeat)} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}
