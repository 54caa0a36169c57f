"use client";

import { useState } from "react";
import { useRunWatch } from "@/app/_hooks/use-run-watch";
import { formatCount } from "@/app/_lib/format";
import type { RunDocument } from "@/lib/runs/document";
import { LabLink } from "../ui/lab-link";
import styles from "./run-strip.module.css";

export function shopHrefOf({ kind, id }: RunDocument["target"]): string {
  return `/shop/${kind}s/${id}`;
}

/** The active run, or null. */
export function useActiveRun(): RunDocument | null {
  const [run, setRun] = useState<RunDocument | null>(null);
  useRunWatch({ enabled: true }, ({ newest }) => setRun(newest?.status === "running" ? newest : null));
  return run;
}

export function RunStrip() {
  const run = useActiveRun();
  return (
    <div role="status" className={styles.region}>
      {run === null ? null : (
        <p className={styles.strip}>
          <span className={styles.pulse} aria-hidden="true" />
          <span>
            A run is active under <code>{run.strategy}</code>: {crowdText(run)} for {formatCount(run.config.stock)}{" "}
            units. <LabLink href={shopHrefOf(run.target)}>Join this sale</LabLink>
          </span>
        </p>
      )}
    </div>
  );
}

export function crowdText({ config }: Pick<RunDocument, "config">): string {
  return config.rate === null
    ? `${formatCount(config.vus ?? 0)} buyers`
    : `${formatCount(config.rate)} buyers per second`;
}
