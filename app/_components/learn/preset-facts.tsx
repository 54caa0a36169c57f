import { plural, settingText } from "@/app/_lib/format";
import type { Sale, Setup } from "@/app/_lib/learn/chapter-preset";
import { LabLink } from "../ui/lab-link";
import styles from "./learn.module.css";

interface PresetFactsProps {
  readonly setup: Setup;
  readonly hasLease: boolean;
}

/** The run that the reader predicts: strategy, fault and sale. */
export function PresetFacts({ setup: { cell, sale, insteadBecause }, hasLease }: PresetFactsProps) {
  const { strategy, fault, setup } = cell;
  return (
    <dl className={styles.facts}>
      <div>
        <dt>strategy</dt>
        <dd>
          <LabLink href={`/strategies/${strategy}`}>
            <code>{strategy}</code>
          </LabLink>
        </dd>
      </div>
      <div>
        <dt>fault</dt>
        <dd>
          {fault === null ? (
            "none"
          ) : (
            <LabLink href={`/faults?cell=${strategy}.${fault}`}>
              <code>{fault}</code>
            </LabLink>
          )}
          {". "}
          {setup}
          {insteadBecause === null ? null : <span className={styles.instead}>{insteadBecause}</span>}
        </dd>
      </div>
      <div>
        <dt>sale</dt>
        <dd>{saleText(sale, hasLease)}</dd>
      </div>
    </dl>
  );
}

function saleText({ stock, vus, rate, durationMs, holdMs, ttlMs }: Sale, hasLease: boolean): string {
  const buyers =
    rate === undefined
      ? `${plural(vus ?? 0, "buyer")} at the same time`
      : `${plural(rate, "buyer")} per second for ${settingText(durationMs ?? 0)}`;
  const lease = hasLease ? `, a lease of ${settingText(ttlMs)}` : "";
  return `${plural(stock, "unit")}, ${buyers}, ${settingText(holdMs)} of work per purchase${lease}`;
}
