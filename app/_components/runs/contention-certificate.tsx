import { certificateOf } from "@/app/_lib/contention-certificate";
import type { RunDocument } from "@/lib/runs/document";
import styles from "./contention-certificate.module.css";

/** Whether the run had contention, and the figures that show it. */
export function ContentionCertificate({ document }: { document: RunDocument }) {
  const { isCertified, sentences, facts } = certificateOf(document);
  return (
    <section className={styles.block} aria-label="Contention certificate" data-certified={isCertified}>
      <h2>
        Contention: <span className={styles.word}>{isCertified ? "certified" : "not certified"}</span>
      </h2>
      <p className={styles.words}>{sentences.join(" ")}</p>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
