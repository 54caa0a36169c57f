"use client";

import { useSyncExternalStore } from "react";
import { formatWhen } from "@/app/_lib/format";

const never = () => () => {};

/** Local date and time. The server renders UTC in the same width, so hydration does not shift the layout. */
export function When({ epochMs }: { epochMs: number }) {
  const zone = useSyncExternalStore(
    never,
    () => "local" as const,
    () => "utc" as const,
  );
  return <time dateTime={new Date(epochMs).toISOString()}>{formatWhen(epochMs, zone)}</time>;
}
