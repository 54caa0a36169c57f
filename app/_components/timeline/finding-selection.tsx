"use client";

import { createContext, type MouseEvent, type ReactNode, useContext, useEffect, useMemo, useRef } from "react";

type Listener = (name: string) => void;

interface Choice {
  readonly ask: Listener;
  readonly listen: (listener: Listener) => () => void;
}

const Context = createContext<Choice | null>(null);

/** What stands elsewhere on a run's page can ask its evidence to show a finding. */
export function FindingSelection({ children }: { children: ReactNode }) {
  const listeners = useRef(new Set<Listener>());
  const choice = useMemo<Choice>(
    () => ({
      ask: (name) => {
        for (const listener of listeners.current) listener(name);
      },
      listen: (listener) => {
        listeners.current.add(listener);
        return () => void listeners.current.delete(listener);
      },
    }),
    [],
  );
  return <Context value={choice}>{children}</Context>;
}

/** Called with the name of each finding that is asked for. */
export function useSelectedFinding(onAsked: Listener): void {
  const choice = useContext(Context);
  const latest = useRef(onAsked);
  useEffect(() => {
    latest.current = onAsked;
  });
  useEffect(() => choice?.listen((name) => latest.current(name)), [choice]);
}

/** Opens a finding in the timeline and line by line; as an address it does the same after a load of the page. */
export function FindingLink({ name, label, children }: { name: string; label: string; children: ReactNode }) {
  const choice = useContext(Context);
  const onClick = (event: MouseEvent) => {
    // In a tab of its own the address does it.
    if (!choice || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    choice.ask(name);
  };
  return (
    <a href={`?finding=${name}#evidence`} aria-label={label} onClick={onClick}>
      {children}
    </a>
  );
}
