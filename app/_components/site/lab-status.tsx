"use client";

import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";
import { callApi } from "@/app/_lib/api";
import { refreshEveryMs } from "@/app/_lib/server-state";
import type { Catalogue } from "@/app/_lib/strategy-catalogue";

interface LabStatus {
  readonly catalogue: Catalogue;
  /** False when the dashboard does not answer; the catalogue is then the last one received. */
  readonly reachable: boolean;
  readonly refresh: () => Promise<void>;
  /** Target of the "Lab" link: the Lab with the current settings. */
  readonly labHref: string;
  readonly setLabHref: (href: string) => void;
  /** This browser has an open admin session. */
  readonly isLoggedIn: boolean;
  readonly setLoggedIn: (isLoggedIn: boolean) => void;
}

interface LabStatusProviderProps {
  readonly initial: Catalogue;
  readonly initiallyLoggedIn: boolean;
  readonly children: ReactNode;
}

const LabStatusContext = createContext<LabStatus | null>(null);

export function useLabStatus(): LabStatus {
  const status = useContext(LabStatusContext);
  if (status === null) throw new Error("useLabStatus needs a LabStatusProvider above it");
  return status;
}

/** Polls strategies, servers and load engines while the page is visible. */
export function LabStatusProvider({ initial, initiallyLoggedIn, children }: LabStatusProviderProps) {
  const [catalogue, setCatalogue] = useState(initial);
  const [reachable, setReachable] = useState(true);
  const [labHref, setLabHref] = useState("/");
  const [isLoggedIn, setLoggedIn] = useState(initiallyLoggedIn);

  const refresh = useCallback(async () => {
    const result = await callApi<Catalogue>("/api/strategies");
    setReachable(result.ok);
    if (result.ok) setCatalogue(result.value);
  }, []);

  const everyMs = refreshEveryMs(catalogue.services);
  useEffect(() => {
    const refreshIfVisible = () => {
      if (document.visibilityState === "visible") void refresh();
    };
    const timer = setInterval(refreshIfVisible, everyMs);
    document.addEventListener("visibilitychange", refreshIfVisible);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", refreshIfVisible);
    };
  }, [refresh, everyMs]);

  const status = useMemo(
    () => ({ catalogue, reachable, refresh, labHref, setLabHref, isLoggedIn, setLoggedIn }),
    [catalogue, reachable, refresh, labHref, isLoggedIn],
  );
  return <LabStatusContext value={status}>{children}</LabStatusContext>;
}
