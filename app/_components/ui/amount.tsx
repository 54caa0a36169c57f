import { formatDuration } from "@/app/_lib/format";

/** A duration; CSS shows its unit smaller and muted. */
export function Duration({ ms }: { ms: number | null | undefined }) {
  const { text, unit } = formatDuration(ms);
  return (
    <>
      {text}
      <span className="unit">{ms === null || ms === undefined ? "" : ` ${unit}`}</span>
    </>
  );
}
