import { LabLink } from "@/app/_components/ui/lab-link";
import { buyersLatencyOf } from "@/app/_lib/buyers-latency";
import { settingsLine } from "@/app/_lib/compare-rows";
import { formatMsCell, formatRate, plural } from "@/app/_lib/format";
import { commandCounts, roundTrips } from "@/app/_lib/strategies/command-counts";
import { toneOf } from "@/app/_lib/verdict";
import type { RunDocument } from "@/lib/runs/document";
import type { Recording } from "@/lib/stock/recorded-commands";
import { VerdictWord } from "../ui/verdict-word";
import { When } from "../ui/when";
import styles from "./strategy-costs.module.css";

interface StrategyCostsProps {
  readonly recording: Recording | undefined;
  readonly serverLabels: ReadonlyMap<string, string>;
  /** Finished runs without faults, newest first. */
  readonly runs: readonly RunDocument[];
  readonly strategy: string;
}

/** Commands per purchase from the recording, and the figures of runs in this lab. */
export function StrategyCosts({ recording, serverLabels, runs, strategy }: StrategyCostsProps) {
  return (
    <>
      {recording === undefined ? null : (
        <p data-testid="commands-per-purchase">
          One purchase that does not wait sends{" "}
          {commandCounts(recording)
            .map(({ server, commands }) => `${plural(commands, "command")} to ${serverLabels.get(server) ?? server}`)
            .join(" and ")}
          , in {plural(roundTrips(recording), "round trip")}.
        </p>
      )}
      {runs.length === 0 ? (
        <p>
          No run without a fault in this lab yet. <LabLink href={`/?strategy=${strategy}`}>Run a sale</LabLink>.
        </p>
      ) : (
        <RunTable runs={runs} />
      )}
    </>
  );
}

function RunTable({ runs }: Pick<StrategyCostsProps, "runs">) {
  return (
    <table className={styles.table}>
      <caption className="visually-hidden">Newest runs without a fault in this lab</caption>
      <thead>
        <tr>
          <th scope="col">run</th>
          <th scope="col">verdict</th>
          <th scope="col" className="num">
            deliverable <span className="unit">/s</span>
          </th>
          <th scope="col" className="num">
            buyers' p50 <span className="unit">ms</span>
          </th>
          <th scope="col" className="num">
            buyers' p99 <span className="unit">ms</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <tr key={run.id}>
            <th scope="row">
              <LabLink href={`/runs/${run.id}`} className={`mono ${styles.run}`}>
                <When epochMs={run.startedAtEpochMs} />
              </LabLink>
              <span className={styles.settings}>{settingsLine(run.config)}</span>
            </th>
            <td data-label="verdict">
              <VerdictWord tone={toneOf(run)} />
            </td>
            <td className="num" data-label="deliverable /s">
              {formatRate(run.throughput.soldPerSecond)}
            </td>
            <td className="num" data-label="buyers' p50, ms">
              {formatMsCell(buyersLatencyOf(run)?.p50)}
            </td>
            <td className="num" data-label="buyers' p99, ms">
              {formatMsCell(buyersLatencyOf(run)?.p99)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
