"use client";

import { useCallback, useState } from "react";
import { toggled } from "../_lib/compare-selection";

/** What is ticked on a page; the URL says the same, so that a reload and a link keep it. */
export function usePicks(initial: readonly string[], hrefOf: (picked: readonly string[]) => string) {
  const [picked, setPicked] = useState(initial);
  const change = useCallback(
    (next: readonly string[]) => {
      setPicked(next);
      window.history.replaceState(null, "", hrefOf(next));
    },
    [hrefOf],
  );
  return {
    picked,
    toggle: (id: string) => change(toggled(picked, id)),
    clear: () => change([]),
  };
}
