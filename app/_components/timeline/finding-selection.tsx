"use client";

import { createContext, type MouseEvent, type ReactNode, useContext, useEffect, useMemo, useRef } from "react";

type Listener = (name: string) => void;

interface Selection {
  readonly select: Listener;
  readonly listen: (listener: Listener) => () => void;
}

const Context = createContext<Selection | null>(null);

/** Lets other parts of a run's page select a finding in its evidence. */
export function FindingSelection({ children }: { children: ReactNode }) {
  const listeners = useRef(new Set<Listener>());
  const selection = useMemo<Selection>(
    () => ({
      select: (name) => {
        for (const listener of listeners.current) listener(name);
      },
      listen: (listener) => {
        listeners.current.add(listener);
        return () => void listeners.current.delete(listener);
      },
    }),
    [],
  );
  return <Context value={selection}>{children}</Context>;
}

/** Calls `onSelect` with the name of each finding that a link selects. */
export function useSelectedFinding(onSelect: Listener): void {
  const selection = useContext(Context);
  const latest = useRef(onSelect);
  useEffect(() => {
    latest.current = onSelect;
  });
  useEffect(() => selection?.listen((name) => latest.current(name)), [selection]);
}

/** Selects a finding in the evidence; the href does the same after a page load. */
export function FindingLink({ name, label, children }: { name: string; label: string; children: ReactNode }) {
  const selection = useContext(Context);
  const onClick = (event: MouseEvent) => {
    // A modified click opens the href in a new tab.
    if (!selection || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    selection.select(name);
  };
  return (
    <a href={`?finding=${name}#evidence`} aria-label={label} onClick={onClick}>
      {children}
    </a>
  );
}
