"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { useAdminRequest } from "@/app/_hooks/use-admin-request";
import { useRunWatch } from "@/app/_hooks/use-run-watch";
import { callApi, problemSentence } from "@/app/_lib/api";
import { hrefOf, isRunOf, type LearnAddress, type PresetRequest } from "@/app/_lib/learn/learn-state";
import type { RunDocument } from "@/lib/runs/document";
import { TokenDialog } from "../lab/token-dialog";
import button from "../ui/button.module.css";
import { LabLink } from "../ui/lab-link";
import styles from "./learn.module.css";

interface StartRunProps {
  readonly request: PresetRequest;
  readonly address: LearnAddress;
  /** The reader has seen a result, so another action of the page is the main one. */
  readonly isAgain?: boolean;
}

/** Starts the chapter's run and puts it into the address. While another run is active, it says which. */
export function StartRun({ request, address, isAgain = false }: StartRunProps) {
  const router = useRouter();
  const hrefOfRun = (run: string) => hrefOf({ ...address, run });
  const { run, isSending, problem, tokenDialog } = useAdminRequest(
    () => callApi<RunDocument>("/api/runs", { method: "POST", body: request }),
    ({ id }) => router.replace(hrefOfRun(id), { scroll: false }),
  );
  const [active, setActive] = useState<RunDocument | null>(null);
  useRunWatch({ enabled: true, isOpening: active !== null }, ({ newest, preparing }) => {
    setActive(preparing ?? (newest?.status === "running" ? newest : null));
  });
  // While this page opens a run, that run is the active one.
  const other = isSending ? null : active;
  return (
    <div className={styles.start}>
      <button
        type="button"
        className={isAgain ? button.plain : button.primary}
        disabled={isSending || other !== null}
        onClick={run}
      >
        {isSending ? "Starting …" : isAgain ? "Run it again" : "Run it"}
      </button>
      <p role="status" className={styles.note}>
        {isSending ? "The lab prepares nodes, servers and stock." : null}
        {other === null ? null : (
          <>
            <code>{other.strategy}</code> is running. The lab has one run at a time, so this run can start when that one
            has ended.{" "}
            {isRunOf(request, other) ? (
              <LabLink href={hrefOfRun(other.id)} scroll={false}>
                Show it here
              </LabLink>
            ) : null}
          </>
        )}
      </p>
      <p role="alert" className={styles.problem}>
        {problem === null || other !== null ? null : problemSentence(problem)}
      </p>
      <TokenDialog {...tokenDialog} />
    </div>
  );
}
