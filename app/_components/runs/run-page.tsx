import { Suspense } from "react";
import { LabLink } from "@/app/_components/ui/lab-link";
import { checkGroups } from "@/app/_lib/checks";
import { settingsLine } from "@/app/_lib/compare-rows";
import type { EvidenceParams } from "@/app/_lib/evidence-url";
import { durationText } from "@/app/_lib/format";
import { configOfRun, queryOf } from "@/app/_lib/run-config";
import { modelOf } from "@/app/_lib/run-model";
import { toneOf } from "@/app/_lib/verdict";
import type { RunDocument } from "@/lib/runs/document";
import type { RunSample } from "@/lib/runs/run-sample";
import { AnswerChart, ChartGrid, InsideChart, LatencyChart, PhaseChart, StockChart } from "../chart/run-charts";
import { CheckSection, CheckTable } from "../run/check-table";
import { RunBody } from "../run/run-body";
import { EvidenceLoading, EvidenceSection } from "../timeline/evidence-section";
import { FindingSelection } from "../timeline/finding-selection";
import { When } from "../ui/when";
import { ContentionCertificate } from "./contention-certificate";
import { DeleteRun, RenameRun } from "./edit-run";
import { FaultList } from "./fault-list";
import { LiveRun } from "./live-run";
import { OverTime } from "./over-time";
import { PhaseTable } from "./phase-table";
import { RerunButton } from "./rerun-button";
import { RunCurve } from "./run-curve";
import { RunExports } from "./run-exports";
import { configFacts, FactList, machineFacts, outcomeFacts } from "./run-facts";
import styles from "./run-page.module.css";

interface RunPageProps {
  readonly document: RunDocument;
  readonly samples: readonly RunSample[];
  /** The finding and time range that the URL selects. */
  readonly link: EvidenceParams;
}

/** The permanent page of a run. */
export function RunPage({ document, samples, link }: RunPageProps) {
  const { id } = document;
  const edited = { id, strategy: document.strategy, ...(document.name === undefined ? {} : { name: document.name }) };
  return (
    <main className={styles.page} id="main" data-testid="run-page" data-run={id}>
      <header className={styles.head}>
        <div>
          <h1>
            <LabLink href={`/strategies/${document.strategy}`} title="How this strategy works">
              <code>{document.strategy}</code>
            </LabLink>
            {document.name === undefined ? null : <span className={styles.name}>{document.name}</span>}
          </h1>
          <p className="muted">{settingsLine(document.config)}</p>
        </div>
        <div className={styles.links}>
          <p className="mono">
            <When epochMs={document.startedAtEpochMs} />
            {document.durationMs === null ? null : (
              <>
                {" "}
                <span className="unit">duration</span> {durationText(document.durationMs)}
              </>
            )}
          </p>
          <div className={styles.actions} data-print="no">
            {document.status === "running" ? null : (
              <RerunButton
                document={{ strategy: document.strategy, target: document.target, config: document.config }}
              />
            )}
            {document.status === "running" ? null : (
              <>
                <RenameRun run={edited} />
                <DeleteRun run={edited} />
              </>
            )}
            <LabLink href={`/?${queryOf(configOfRun(document))}`}>Open these settings in the Lab</LabLink>
          </div>
          {document.status === "running" ? null : (
            <RunExports id={id} hasHistogram={document.histograms !== undefined} />
          )}
        </div>
      </header>
      {document.status === "running" ? (
        <LiveRun document={document} samples={samples} />
      ) : (
        <EndedRun document={document} samples={samples} link={link} />
      )}
      <div className={styles.facts}>
        <FactList title="Configuration" facts={configFacts(document)} />
        {document.status === "running" ? null : <FactList title="Results" facts={outcomeFacts(document)} />}
        <FactList title="Versions and machine" facts={machineFacts(document)} />
      </div>
    </main>
  );
}

/** What the history and the document of an ended run show. */
function EndedRun({ document, samples, link }: RunPageProps) {
  const model = modelOf(document, samples);
  return (
    <>
      <FindingSelection>
        <RunBody
          model={model}
          checks={
            <Suspense fallback={<CheckTable groups={checkGroups(document, null)} tone={toneOf(document)} />}>
              <CheckSection document={document} />
            </Suspense>
          }
          evidence={
            <Suspense fallback={<EvidenceLoading document={document} />}>
              <EvidenceSection document={document} link={link} />
            </Suspense>
          }
          charts={
            <OverTime document={document} sampled={model.series}>
              {(series) => (
                <>
                  <ChartGrid series={series}>
                    <StockChart initial={document.stock.initial} series={series} />
                    <PhaseChart series={series} />
                    <AnswerChart series={series} />
                    <LatencyChart series={series} />
                  </ChartGrid>
                  <FaultList faults={document.faults} recovery={document.recovery} series={series} />
                </>
              )}
            </OverTime>
          }
        />
      </FindingSelection>
      <div className={styles.charts}>
        <OverTime document={document} sampled={model.series}>
          {(series) => <InsideChart series={series} />}
        </OverTime>
        <ContentionCertificate document={document} />
      </div>
      <RunCurve document={document} />
      <PhaseTable document={document} />
    </>
  );
}
