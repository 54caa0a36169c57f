import { LabLink } from "@/app/_components/ui/lab-link";
import { plural } from "@/app/_lib/format";
import { sequenceOf } from "@/app/_lib/strategies/sequence-rows";
import type { StrategyFault } from "@/app/_lib/strategies/strategy-faults";
import { sourceOf } from "@/app/_lib/strategies/strategy-source";
import { promisesOf } from "@/app/_lib/strategies/strategy-trust";
import type { CatalogueStrategy } from "@/app/_lib/strategy-catalogue";
import { EXPIRY_TEXT, needsText, SURVIVAL_TEXT, waiterText } from "@/app/_lib/traits-text";
import type { RunDocument } from "@/lib/runs/document";
import type { RecordedCommands, Recording } from "@/lib/stock/recorded-commands";
import { PageFrame } from "../site/page-frame";
import button from "../ui/button.module.css";
import { Prose } from "../ui/prose";
import { VerdictWord } from "../ui/verdict-word";
import { CommandList } from "./command-list";
import { FaultTable } from "./fault-table";
import { SequenceDiagram } from "./sequence-diagram";
import { StrategyCosts } from "./strategy-costs";
import styles from "./strategy-page.module.css";

export interface StrategyPageProps {
  readonly strategy: CatalogueStrategy;
  readonly recording: Recording | undefined;
  readonly scripts: RecordedCommands["scripts"];
  readonly serverLabels: ReadonlyMap<string, string>;
  readonly faults: readonly StrategyFault[];
  /** The newest finished run with each fault. */
  readonly newest: ReadonlyMap<string, RunDocument>;
  /** Finished runs without faults, newest first. */
  readonly runs: readonly RunDocument[];
}

/** Everything that the lab knows about one strategy. */
export function StrategyPage(props: StrategyPageProps) {
  const { strategy, recording, serverLabels, faults, newest, runs } = props;
  const { id, mechanism, familyLabel, needsLabels, expected, available, unavailableReason } = strategy;
  return (
    <PageFrame title={<code>{id}</code>} lead={<Prose text={mechanism} />}>
      <div className={styles.top}>
        <dl className={styles.verdicts}>
          <div>
            <dt>family</dt>
            <dd>{familyLabel}</dd>
          </div>
          <div>
            <dt>needs</dt>
            <dd>{needsText(needsLabels)}</dd>
          </div>
          <div>
            <dt>one node</dt>
            <dd>
              <VerdictWord tone={expected.alone} />
            </dd>
          </div>
          <div>
            <dt>three nodes</dt>
            <dd>
              <VerdictWord tone={expected.threeNodes} />
            </dd>
          </div>
        </dl>
        {available ? (
          <LabLink href={`/?strategy=${id}`} className={button.primary}>
            Run it in the Lab
          </LabLink>
        ) : (
          <p className={styles.absent}>{unavailableReason}</p>
        )}
        <LabLink href={`/strategies#${id}`}>All strategies</LabLink>
      </div>
      <section className={styles.section} aria-labelledby="what-it-does">
        <h2 id="what-it-does">What it does</h2>
        {recording === undefined ? (
          <p>
            Its commands are not recorded yet. <code>npm run lab -- record-commands</code> records them.
          </p>
        ) : (
          <Recorded {...props} recording={recording} />
        )}
      </section>
      <Promised strategy={strategy} />
      <section className={styles.section} aria-labelledby="how-it-fails">
        <h2 id="how-it-fails">How it fails</h2>
        {expected.threeNodes === "unsafe" ? (
          <p className={styles.prose}>
            It is unsafe on three nodes without a fault, so a fault can show nothing more.{" "}
            <LabLink href={`/?strategy=${id}&nodes=3`}>See it oversell in the Lab</LabLink>.
          </p>
        ) : (
          <>
            <FaultTable strategy={id} faults={faults} newest={newest} />
            <p>
              <LabLink href="/faults">Compare with the other strategies</LabLink>
            </p>
          </>
        )}
      </section>
      <section className={styles.section} aria-labelledby="what-it-costs">
        <h2 id="what-it-costs">What it costs</h2>
        <StrategyCosts recording={recording} serverLabels={serverLabels} runs={runs} strategy={id} />
      </section>
      <Source strategy={strategy} />
    </PageFrame>
  );
}

function Recorded({ strategy, recording, scripts, serverLabels }: StrategyPageProps & { recording: Recording }) {
  const used = new Set(recording.steps.map(({ server }) => server));
  const servers = [...strategy.needs.filter((server) => server !== "postgres"), "postgres"]
    .filter((server) => used.has(server))
    .map((server) => ({ id: server, label: serverLabels.get(server) ?? server }));
  const count = (buyer: "A" | "B") =>
    recording.steps.filter((step) => step.kind === "command" && step.buyer === buyer).length;
  const list = { steps: recording.steps, serverLabels, scripts };
  return (
    <>
      <p className={styles.prose}>
        Two buyers on two store nodes buy one unit each at the same time, recorded from the connections to the real
        servers.{" "}
        {strategy.kind === "lock" ? "The bar on a buyer's line is the time inside the critical section." : null}
      </p>
      <SequenceDiagram sequence={sequenceOf(recording)} servers={servers} />
      <p className={styles.result} data-alarm={isWrong(recording)} data-testid="recorded-result">
        {resultText(recording)}
      </p>
      <div>
        <CommandList {...list} buyer="A" title={`Buyer A: ${plural(count("A"), "command")}`} isOpen />
        <CommandList {...list} buyer="B" title={`Buyer B: ${plural(count("B"), "command")}`} isOpen={false} />
      </div>
    </>
  );
}

/** The purchases show the flaw of the strategy: a lost update, or a unit too many. */
function isWrong({ purchases, stock }: Recording): boolean {
  return stock.after < 0 || stock.before - stock.after < purchases.filter(({ outcome }) => outcome === "sold").length;
}

function resultText(recording: Recording): string {
  const { purchases, stock } = recording;
  const sold = purchases.filter(({ outcome }) => outcome === "sold").length;
  const fell = `The stock fell from ${stock.before} to ${stock.after}`;
  if (stock.after < 0) return `${fell}: ${plural(sold, "unit")} were sold, and ${stock.before} existed.`;
  if (!isWrong(recording)) return `${fell}, and ${plural(sold, "unit")} were sold.`;
  return `${fell}, but ${plural(sold, "unit")} were sold: one write overwrote the other.`;
}

function Promised({ strategy }: Pick<StrategyPageProps, "strategy">) {
  const { guarantees, trusts } = promisesOf(strategy);
  const { kind, survives, expiryClock, fencingSource } = strategy;
  const facts: readonly (readonly [string, string])[] = [
    ["Waiters", waiterText(strategy)],
    ...(kind === "lock" ? ([["Hold expires by", EXPIRY_TEXT[expiryClock]]] as const) : []),
    ["Fencing token", fencingSource ?? "none"],
    ["Holder crashes", SURVIVAL_TEXT[survives.holderCrash]],
    ["Holder pauses", SURVIVAL_TEXT[survives.holderPause]],
    ["Server restarts empty", SURVIVAL_TEXT[survives.serverRestart]],
  ];
  return (
    <section className={styles.section} aria-labelledby="what-it-guarantees">
      <h2 id="what-it-guarantees">What it guarantees and trusts</h2>
      <div className={styles.promise}>
        <Sentences title="It guarantees" sentences={guarantees} />
        <Sentences title="It trusts that" sentences={trusts} />
        <div>
          <h3>In short</h3>
          <dl className={styles.facts}>
            {facts.map(([label, text]) => (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
        </div>
      </div>
    </section>
  );
}

function Sentences({ title, sentences }: { title: string; sentences: readonly string[] }) {
  return (
    <div>
      <h3>{title}</h3>
      <ul className={styles.sentences}>
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </div>
  );
}

function Source({ strategy }: Pick<StrategyPageProps, "strategy">) {
  const { file, reference } = sourceOf(strategy);
  return (
    <section className={styles.section} aria-labelledby="where-it-comes-from">
      <h2 id="where-it-comes-from">Where it comes from</h2>
      <p>
        Source: <code>{file}</code>
      </p>
      {reference === null ? null : (
        <p>
          Described in:{" "}
          <a href={reference.url} rel="noreferrer">
            {reference.title}
          </a>
        </p>
      )}
    </section>
  );
}
