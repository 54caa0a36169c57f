"use client";

import { useCallback, useState } from "react";
import { toggled } from "../_lib/compare-selection";

/** The selected rows of a page, mirrored in the URL so that a reload or a link restores them. */
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
