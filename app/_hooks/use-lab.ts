"use client";

import { useCallback, useEffect, useMemo, useState } from "react";
import type { RunDocument } from "@/lib/runs/document";
import { useLabStatus } from "../_components/site/lab-status";
import { type ApiProblem, callApi, messageBesideField } from "../_lib/api";
import { blockedReason } from "../_lib/blocked-reason";
import { type SaleConfig, settingOfField } from "../_lib/run-config";
import { isBusy, opensItself } from "../_lib/run-view";
import { neighbour } from "../_lib/strategy-catalogue";
import { type InitialRuns, useLastRuns } from "./use-last-runs";
import { useRun } from "./use-run";
import { useRunWatch } from "./use-run-watch";
import { type SaleSettings, useSaleConfig } from "./use-sale-config";

export interface LabStart {
  readonly config: SaleConfig;
  readonly runs: InitialRuns;
  /** A run that was active when the page loaded. */
  readonly active: RunDocument | null;
  /** A run that was being opened when the page loaded. */
  readonly preparing: RunDocument | null;
}

/** State of the Lab page: settings, the followed run, the last runs, and the reason why a sale cannot start. */
export function useLab(start: LabStart) {
  const { catalogue } = useLabStatus();
  const settings = useSaleConfig(start.config, Math.max(1, catalogue.nodes.length));
  const run = useRun(start);
  const lastRuns = useLastRuns(start.runs, settings.config.strategy);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [needsAdminToken, setNeedsAdminToken] = useState(false);

  const { config } = settings;
  const { view } = run;
  const isFollowing = view.phase === "running" || opensItself(view);
  const blocked = blockedReason(config, settings.problems, catalogue);

  const { put } = lastRuns;
  useEffect(() => {
    // A stopped or failed run is shown until another choice, but it is not the strategy's last result.
    if (view.phase === "finished" && view.document?.status === "finished") put(view.document, view.samples);
  }, [view, put]);

  useRunWatch({ enabled: !isFollowing, isOpening: view.phase === "opening" }, ({ newest, preparing }) => {
    const isNew = newest !== null && newest.id !== view.document?.id && !lastRuns.has(newest.id);
    if (newest !== null && (newest.status === "running" || (newest.status === "finished" && isNew))) run.attach(newest);
    else run.prepare(preparing);
  });

  // Only a strategy with a fencing token can run with the check switched off.
  const hasToken = catalogue.strategies.some(
    ({ id, fencingSource }) => id === config.strategy && fencingSource !== null,
  );
  const requested = useMemo(() => (hasToken ? config : { ...config, fencing: true }), [hasToken, config]);

  const { start: open, attach } = run;
  const begin = useCallback(async () => {
    setProblem(null);
    const rejection = await open(requested);
    if (rejection === null) return;
    if (rejection.code === "admin_token_required") return setNeedsAdminToken(true);
    setProblem(rejection);
    if (rejection.runId === null) return;
    const other = await callApi<RunDocument>(`/api/runs/${encodeURIComponent(rejection.runId)}`);
    if (other.ok) attach(other.value);
  }, [open, attach, requested]);

  const runSale = () => {
    if (!isBusy(view) && blocked === null) void begin();
  };
  const select = (id: string) => {
    setProblem(null);
    run.reset();
    settings.set("strategy", id);
  };
  const rejectedSetting = problem?.field ? settingOfField(problem.field) : null;

  return {
    catalogue,
    settings: clearingProblem(settings, () => setProblem(null)),
    config,
    view,
    lastRuns,
    problem,
    blocked,
    /** Errors from the API, by setting. */
    apiErrors: problem !== null && rejectedSetting !== null ? { [rejectedSetting]: messageBesideField(problem) } : {},
    runSale,
    select,
    step: (by: 1 | -1) => select(neighbour(catalogue.strategies, config.strategy, by)),
    reconnect: run.reconnect,
    needsAdminToken,
    closeToken: () => setNeedsAdminToken(false),
    acceptToken: () => {
      setNeedsAdminToken(false);
      void begin();
    },
  };
}

export type Lab = ReturnType<typeof useLab>;

/** Clears the API error when a setting changes, because it refers to the previous value. */
function clearingProblem(settings: SaleSettings, clearProblem: () => void): SaleSettings {
  return {
    ...settings,
    setText: (setting, text) => {
      clearProblem();
      settings.setText(setting, text);
    },
    set: (name, value) => {
      clearProblem();
      settings.set(name, value);
    },
  };
}
