"use client";

import type { Lab } from "@/app/_hooks/use-lab";
import { plural } from "@/app/_lib/format";
import { arrivalText } from "@/app/_lib/run-config";
import { isUnsafeWith } from "@/app/_lib/strategy-catalogue";
import button from "../ui/button.module.css";
import { LabLink } from "../ui/lab-link";
import { Prose } from "../ui/prose";
import styles from "./empty-run-panel.module.css";

/** Shown while the chosen strategy has no run: what the sale will test and one button, or the missing server and its fix. */
export function EmptyRunPanel({ lab }: { lab: Lab }) {
  const { config, catalogue, blocked, lastRuns } = lab;
  const strategy = catalogue.strategies.find((one) => one.id === config.strategy);
  if (strategy !== undefined && !strategy.available) return <MissingServer lab={lab} />;
  const first = lastRuns.isEmpty;
  return (
    <section className={styles.empty} data-testid="run-panel" data-status="empty">
      <p className={styles.eyebrow}>{first ? "No runs yet" : `${config.strategy} has not been run yet`}</p>
      <h2 className={styles.question}>
        {arrivalText(config)} want {plural(config.stock, "unit")}
        {config.arrival === "rate" ? "" : " at the same time"}, on {plural(config.nodes, "store node")}. How many orders
        will the shop accept?
      </h2>
      {strategy === undefined ? null : (
        <p className={styles.mechanism}>
          <LabLink href={`/strategies/${strategy.id}`}>
            <code>{strategy.id}</code>
          </LabLink>{" "}
          <Prose text={strategy.mechanism} />
          {isUnsafeWith(strategy, config.nodes) ? " It is expected to oversell: the lab includes it to show how." : ""}
        </p>
      )}
      <button type="button" className={button.primary} disabled={blocked !== null} onClick={lab.runSale}>
        {first ? "Run your first sale" : `Run ${config.strategy}`}
      </button>
      <ol className={styles.steps}>
        <li>
          <b>Load</b> Every buyer sends one purchase{config.arrival === "rate" ? "." : ", all at the same time."}
        </li>
        <li>
          <b>Count</b> The lab counts the orders in PostgreSQL, not in the code under test.
        </li>
        <li>
          <b>Check</b> Checkers read the recorded history and give the verdict.
        </li>
      </ol>
    </section>
  );
}

function MissingServer({ lab }: { lab: Lab }) {
  const { config, catalogue, blocked } = lab;
  const strategy = catalogue.strategies.find((one) => one.id === config.strategy);
  const missing = catalogue.services.filter(
    (service) => !service.present && strategy?.needs.some((need) => need === service.id),
  );
  return (
    <section className={styles.empty} data-testid="run-panel" data-status="missing">
      <p className={styles.eyebrow}>Server unavailable</p>
      <h2 className={styles.question}>
        <code>{config.strategy}</code> cannot run here:{" "}
        {missing.length === 0 ? "a server it needs" : missing.map((service) => service.label).join(" and ")}{" "}
        {missing.length > 1 ? "are" : "is"} unavailable.
      </h2>
      <p className={styles.fix}>{blocked}</p>
      <p className={styles.mechanism}>
        The other strategies still work. The lab checks its servers every ten seconds and enables the strategy when the
        server answers.
      </p>
    </section>
  );
}
