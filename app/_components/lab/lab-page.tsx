"use client";

import type { FormEvent } from "react";
import { useAnnouncer } from "@/app/_hooks/use-announcer";
import { type LabStart, useLab } from "@/app/_hooks/use-lab";
import { useShortcuts } from "@/app/_hooks/use-shortcuts";
import { useStopRun } from "@/app/_hooks/use-stop-run";
import { summaryOf } from "@/app/_lib/announce";
import { isBusy } from "@/app/_lib/run-view";
import { showKeys } from "../site/site-keys";
import styles from "./lab-page.module.css";
import { RunControl } from "./run-control";
import { RunPanel } from "./run-panel";
import { SettingsForm } from "./settings-form";
import { ShopStrategy } from "./shop-strategy";
import { StrategyChooser, StrategyList } from "./strategy-list";
import { SweepStarter } from "./sweep-starter";
import { TokenDialog } from "./token-dialog";

/** The Lab page: settings and strategies on the left, the run on the right. */
export function LabPage({ start }: { start: LabStart }) {
  const lab = useLab(start);
  const { catalogue, settings, config, view } = lab;
  const stopping = useStopRun();
  const announcement = useAnnouncer(summaryOf(view));

  useShortcuts({
    r: lab.runSale,
    j: () => lab.step(1),
    k: () => lab.step(-1),
  });

  const submit = (event: FormEvent) => {
    event.preventDefault();
    lab.runSale();
  };
  const choice = {
    strategies: catalogue.strategies,
    selected: config.strategy,
    nodes: config.nodes,
    onSelect: lab.select,
  };

  return (
    <div className={styles.lab} data-keys="lab">
      <aside className={styles.panel} aria-label="Sale settings">
        <form className={styles.form} onSubmit={submit}>
          <div className={styles.chooser}>
            <StrategyChooser {...choice} />
          </div>
          <SettingsForm settings={settings} catalogue={catalogue} apiErrors={lab.apiErrors} />
          <RunControl view={view} blocked={lab.blocked} problem={lab.problem} stopping={stopping} onKeys={showKeys} />
        </form>
        <div className={styles.strategies}>
          <StrategyList {...choice} />
        </div>
        <div className={styles.shop}>
          <SweepStarter
            config={config}
            catalogue={catalogue}
            isBlocked={Object.keys(settings.problems).length > 0}
            isBusy={isBusy(view)}
          />
          <ShopStrategy />
        </div>
      </aside>
      <main className={styles.main} id="main">
        <h1 className="visually-hidden">Flash Sale Lab</h1>
        <p className="visually-hidden" aria-live="polite" data-testid="announcer">
          {announcement}
        </p>
        <RunPanel lab={lab} />
      </main>
      <TokenDialog {...stopping.token} />
      <TokenDialog open={lab.needsAdminToken} onClose={lab.closeToken} onAccepted={lab.acceptToken} />
    </div>
  );
}
