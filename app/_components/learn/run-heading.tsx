"use client";

import { useEffect, useRef } from "react";
import type { LearnState } from "@/app/_lib/learn/learn-state";

/**
 * The heading of the run's section. When the button that started the run has made way for the run, the keyboard focus
 * continues here instead of at the top of the page.
 */
export function RunHeading({ phase }: Pick<LearnState, "phase">) {
  const heading = useRef<HTMLHeadingElement>(null);
  const shown = useRef(phase);
  useEffect(() => {
    if (shown.current === phase) return;
    shown.current = phase;
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, [phase]);
  return (
    <h2 id="run" ref={heading} tabIndex={-1}>
      {phase === "revealed" ? "What happened" : "Run"}
    </h2>
  );
}
