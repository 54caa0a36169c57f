"use client";

import { useId } from "react";
import type { CatalogueService } from "@/app/_lib/strategy-catalogue";
import { useLabStatus } from "./lab-status";
import styles from "./server-dots.module.css";

/** Filled: the server answers. Hollow: it does not; the tooltip gives the reason. */
function Dot({ present }: { present: boolean }) {
  return <span className={present ? styles.present : styles.absent} aria-hidden="true" />;
}

function reasonOf(service: CatalogueService, reachable: boolean): string {
  if (!reachable) return "The dashboard does not answer. This is the last known state.";
  if (service.present) return `${service.label} answers.`;
  return service.reason ?? `${service.label} does not answer. Strategies that need it are disabled.`;
}

function ServerItem({ service, reachable }: { service: CatalogueService; reachable: boolean }) {
  const tipId = useId();
  const present = service.present && reachable;
  return (
    <li className={styles.item}>
      <button
        type="button"
        className={styles.server}
        aria-label={`${service.label}: ${present ? "available" : service.checking ? "being checked" : "unavailable"}`}
        aria-describedby={tipId}
      >
        <Dot present={present} />
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
  const present = reachable ? services.filter((service) => service.present).length : 0;
  return (
    <>
      <ul className={styles.row} aria-label="Servers">
        {services.map((service) => (
          <ServerItem key={service.id} service={service} reachable={reachable} />
        ))}
      </ul>
      <details className={styles.compact}>
        <summary>
          <Dot present={present === services.length} />
          {present} of {services.length} servers
        </summary>
        <ul className={styles.sheet}>
          {services.map((service) => (
            <li key={service.id}>
              <Dot present={service.present && reachable} /> {service.label}
              {service.present && reachable ? null : <p className="muted">{reasonOf(service, reachable)}</p>}
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}
