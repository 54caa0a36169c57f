import styles from "./run-exports.module.css";

const FILES = [
  { label: "Document (JSON)", path: "", hint: "Everything this page shows" },
  { label: "History (NDJSON)", path: "/history", hint: "Every recorded operation, to be judged again" },
  { label: "Samples (CSV)", path: "/export?format=csv", hint: "The run over time" },
  { label: "Purchases (CSV)", path: "/export?format=csv&rows=operations", hint: "One line a purchase" },
  { label: ".hgrm", path: "/export?format=hgrm", hint: "Latency inside the nodes, for HdrHistogram's tools" },
  { label: "HTML", path: "/export?format=html", hint: "One file with its charts that opens without a network" },
] as const;

/** The run as files to keep. */
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
