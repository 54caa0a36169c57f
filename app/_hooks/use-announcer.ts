"use client";

import { useEffect, useRef, useState } from "react";
import { announceDelayMs } from "../_lib/announce";

/** Returns the text to announce: the newest one, changed at most every five seconds. */
export function useAnnouncer(text: string): string {
  const [spoken, setSpoken] = useState("");
  const lastAtMs = useRef<number | null>(null);

  useEffect(() => {
    if (text === "") return;
    const timer = setTimeout(
      () => {
        lastAtMs.current = performance.now();
        setSpoken(text);
      },
      announceDelayMs(lastAtMs.current, performance.now()),
    );
    return () => clearTimeout(timer);
  }, [text]);

  return spoken;
}
