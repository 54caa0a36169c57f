import { clampRange, type TimeRange } from "./timeline-view";

/** The selected finding and time range, as URL parameters. */
export interface EvidenceParams {
  readonly finding: string | null;
  readonly range: TimeRange | null;
}

type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

function micros(value: string | readonly string[] | undefined): number | null {
  return typeof value === "string" && /^\d{1,12}$/.test(value) ? Number(value) : null;
}

/** Ignores malformed parameters, so that a truncated link still opens the run. */
export function readEvidenceParams(query: Query): EvidenceParams {
  const name = query.finding;
  const [fromUs, toUs] = [micros(query.fromUs), micros(query.toUs)];
  return {
    finding: typeof name === "string" && /^[A-Za-z]+-\d+$/.test(name) ? name : null,
    range: fromUs !== null && toUs !== null && fromUs < toUs ? { fromUs, toUs } : null,
  };
}

/** The URL with these parameters; other parameters stay unchanged. */
export function withEvidenceParams(href: string, { finding, range }: EvidenceParams, endUs: number): string {
  const url = new URL(href);
  const { searchParams } = url;
  if (finding === null) searchParams.delete("finding");
  else searchParams.set("finding", finding);
  if (range === null) {
    searchParams.delete("fromUs");
    searchParams.delete("toUs");
  } else {
    const clamped = clampRange(range, endUs);
    searchParams.set("fromUs", String(clamped.fromUs));
    searchParams.set("toUs", String(clamped.toUs));
  }
  return url.href;
}
