"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { useAdminRequest } from "@/app/_hooks/use-admin-request";
import { useRunWatch } from "@/app/_hooks/use-run-watch";
import { callApi, problemSentence } from "@/app/_lib/api";
import { configOfRun, queryOf } from "@/app/_lib/run-config";
import type { RunDocument } from "@/lib/runs/document";
import { rerunRequest } from "@/lib/runs/rerun-request";
import { TokenDialog } from "../lab/token-dialog";
import button from "../ui/button.module.css";
import styles from "./rerun-button.module.css";

/** Starts a run with the settings of this one and opens the Lab, which shows it. */
export function RerunButton({ document }: { document: Pick<RunDocument, "strategy" | "target" | "config"> }) {
  const router = useRouter();
  const { run, isSending, problem, tokenDialog } = useAdminRequest(
    () => callApi<RunDocument>("/api/runs", { method: "POST", body: rerunRequest(document) }),
    // The Lab follows the active run; the query gives it the same settings.
    () => router.push(`/?${queryOf(configOfRun(document))}`),
  );
  const [isBusy, setIsBusy] = useState(false);
  useRunWatch({ enabled: true }, ({ newest, preparing }) => {
    setIsBusy(preparing !== null || newest?.status === "running");
  });
  return (
    <>
      <button
        type="button"
        className={button.link}
        disabled={isSending || isBusy}
        title={isBusy ? "Another run is active. One run at a time." : undefined}
        onClick={run}
      >
        {isSending ? "Starting …" : "Run again"}
      </button>
      <span role="alert" className={styles.problem}>
        {problem === null ? "" : problemSentence(problem)}
      </span>
      <TokenDialog {...tokenDialog} />
    </>
  );
}
