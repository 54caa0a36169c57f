import styles from "./run-exports.module.css";

const FILES = [
  { label: "Document (JSON)", path: "", hint: "Everything this page shows" },
  { label: "History (NDJSON)", path: "/history", hint: "Every recorded operation, the input of lab check" },
  { label: "Samples (CSV)", path: "/export?format=csv", hint: "One line per sample, about four per second" },
  { label: "Purchases (CSV)", path: "/export?format=csv&rows=operations", hint: "One line per purchase" },
  { label: ".hgrm", path: "/export?format=hgrm", hint: "Latency inside the nodes, for HdrHistogram tools" },
  { label: "HTML", path: "/export?format=html", hint: "One file with all charts that works offline" },
] as const;

/** Download links of the run. */
export function RunExports({ id, hasHistogram }: { id: string; hasHistogram: boolean }) {
  const shown = FILES.filter(({ label }) => hasHistogram || label !== ".hgrm");
  return (
    <p className={styles.files} data-print="no">
      {shown.map(({ label, path, hint }) => (
        <a key={label} href={`/api/runs/${id}${path}`} title={hint}>
          {label}
        </a>
      ))}
    </p>
  );
}
