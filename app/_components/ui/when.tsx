"use client";

import { useSyncExternalStore } from "react";
import { formatWhen } from "@/app/_lib/format";

const never = () => () => {};

/** A moment in the reader's own time zone; the server writes UTC in the same width. */
export function When({ epochMs }: { epochMs: number }) {
  const zone = useSyncExternalStore(
    never,
    () => "local" as const,
    () => "utc" as const,
  );
  return <time dateTime={new Date(epochMs).toISOString()}>{formatWhen(epochMs, zone)}</time>;
}
