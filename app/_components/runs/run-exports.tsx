import styles from "./run-exports.module.css";

const FORMATS = [
  { label: "JSON", query: "format=json", hint: "The run document" },
  { label: "CSV", query: "format=csv", hint: "The samples over time" },
  { label: "Purchases (CSV)", query: "format=csv&rows=operations", hint: "One line a purchase" },
  { label: ".hgrm", query: "format=hgrm", hint: "Latency inside the nodes, for HdrHistogram's tools" },
  { label: "HTML", query: "format=html", hint: "One file with its charts that opens without a network" },
] as const;

/** The run as files to keep. */
export function RunExports({ id, hasHistogram }: { id: string; hasHistogram: boolean }) {
  const shown = FORMATS.filter(({ label }) => hasHistogram || label !== ".hgrm");
  return (
    <span className={styles.exports}>
      <span className="muted">Save as</span>{" "}
      {shown.map(({ label, query, hint }) => (
        <a key={label} href={`/api/runs/${id}/export?${query}`} download title={hint}>
          {label}
        </a>
      ))}
    </span>
  );
}
