"use client";

import { useId } from "react";
import { type ServerState, serverStateOf, serversText } from "@/app/_lib/server-state";
import type { CatalogueService } from "@/app/_lib/strategy-catalogue";
import { useLabStatus } from "./lab-status";
import styles from "./server-dots.module.css";

/** Filled: the server answers. Hollow: it does not; the tooltip gives the reason. Half: the lab still checks it. */
function Dot({ state }: { state: ServerState }) {
  return <span className={styles.dot} data-state={state} aria-hidden="true" />;
}

const STATE_TEXT: Record<ServerState, string> = {
  available: "available",
  checking: "being checked",
  unavailable: "unavailable",
};

function reasonOf(service: CatalogueService, reachable: boolean): string {
  if (!reachable) return "The dashboard does not answer. This is the last known state.";
  if (service.present) return `${service.label} answers.`;
  return service.reason ?? `${service.label} does not answer. Strategies that need it are disabled.`;
}

function ServerItem({ service, reachable }: { service: CatalogueService; reachable: boolean }) {
  const tipId = useId();
  const state = serverStateOf(service, reachable);
  return (
    <li className={styles.item}>
      <button
        type="button"
        className={styles.server}
        aria-label={`${service.label}: ${STATE_TEXT[state]}`}
        aria-describedby={tipId}
      >
        <Dot state={state} />
        {service.label}
      </button>
      <span className={styles.tip} role="tooltip" id={tipId}>
        {reasonOf(service, reachable)}
      </span>
    </li>
  );
}

export function ServerDots() {
  const { catalogue, reachable } = useLabStatus();
  const { services } = catalogue;
  const states = services.map((service) => serverStateOf(service, reachable));
  const worst = states.find((state) => state !== "available") ?? "available";
  return (
    <>
      <ul className={styles.row} aria-label="Servers">
        {services.map((service) => (
          <ServerItem key={service.id} service={service} reachable={reachable} />
        ))}
      </ul>
      <details className={styles.compact}>
        <summary>
          <Dot state={worst} />
          {serversText(states)}
        </summary>
        <ul className={styles.sheet}>
          {services.map((service) => (
            <li key={service.id}>
              <Dot state={serverStateOf(service, reachable)} /> {service.label}
              {service.present && reachable ? null : <p className="muted">{reasonOf(service, reachable)}</p>}
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}
