"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { type ApiProblem, callApi, problemSentence } from "@/app/_lib/api";
import { configOfRun, queryOf } from "@/app/_lib/run-config";
import type { RunDocument } from "@/lib/runs/document";
import { rerunRequest } from "@/lib/runs/rerun-request";
import { TokenDialog } from "../lab/token-dialog";
import button from "../ui/button.module.css";
import styles from "./rerun-button.module.css";

/** Starts a run with the settings of this one and opens the Lab, which shows it. */
export function RerunButton({ document }: { document: Pick<RunDocument, "strategy" | "target" | "config"> }) {
  const router = useRouter();
  const [isStarting, setIsStarting] = useState(false);
  const [needsAdminToken, setNeedsAdminToken] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);

  const run = async () => {
    setIsStarting(true);
    setProblem(null);
    const result = await callApi<RunDocument>("/api/runs", { method: "POST", body: rerunRequest(document) });
    // The Lab follows the active run; the query gives it the same settings.
    if (result.ok) return router.push(`/?${queryOf(configOfRun(document))}`);
    setIsStarting(false);
    if (result.problem.code === "admin_token_required") return setNeedsAdminToken(true);
    setProblem(result.problem);
  };

  return (
    <>
      <button type="button" className={button.link} disabled={isStarting} onClick={() => void run()}>
        {isStarting ? "Starting …" : "Run again"}
      </button>
      <span role="alert" className={styles.problem}>
        {problem === null ? "" : problemSentence(problem)}
      </span>
      <TokenDialog
        open={needsAdminToken}
        onClose={() => setNeedsAdminToken(false)}
        onAccepted={() => {
          setNeedsAdminToken(false);
          void run();
        }}
      />
    </>
  );
}
