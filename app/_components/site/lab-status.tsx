"use client";

import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";
import { callApi } from "@/app/_lib/api";
import type { Catalogue } from "@/app/_lib/strategy-catalogue";

const REFRESH_EVERY_MS = 10_000;

interface LabStatus {
  readonly catalogue: Catalogue;
  /** False once the dashboard stops answering; the catalogue is then the last one known. */
  readonly reachable: boolean;
  readonly refresh: () => Promise<void>;
  /** Where "Lab" leads: back to the sale as it was set up. */
  readonly labHref: string;
  readonly setLabHref: (href: string) => void;
}

const LabStatusContext = createContext<LabStatus | null>(null);

export function useLabStatus(): LabStatus {
  const status = useContext(LabStatusContext);
  if (status === null) throw new Error("useLabStatus needs a LabStatusProvider above it");
  return status;
}

/** Keeps strategies, servers and engines up to date while the page is in sight. */
export function LabStatusProvider({ initial, children }: { initial: Catalogue; children: ReactNode }) {
  const [catalogue, setCatalogue] = useState(initial);
  const [reachable, setReachable] = useState(true);
  const [labHref, setLabHref] = useState("/");

  const refresh = useCallback(async () => {
    const result = await callApi<Catalogue>("/api/strategies");
    setReachable(result.ok);
    if (result.ok) setCatalogue(result.value);
  }, []);

  useEffect(() => {
    const refreshInSight = () => {
      if (document.visibilityState === "visible") void refresh();
    };
    const timer = setInterval(refreshInSight, REFRESH_EVERY_MS);
    document.addEventListener("visibilitychange", refreshInSight);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", refreshInSight);
    };
  }, [refresh]);

  const status = useMemo(
    () => ({ catalogue, reachable, refresh, labHref, setLabHref }),
    [catalogue, reachable, refresh, labHref],
  );
  return <LabStatusContext value={status}>{children}</LabStatusContext>;
}
