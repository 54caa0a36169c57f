import { TONE_TEXT, type Tone } from "@/app/_lib/verdict";
import styles from "./verdict-word.module.css";

/** The verdict as a word and a mark (filled, hatched or hollow), so that colour is not the only sign. */
export function VerdictWord({ tone }: { tone: Tone }) {
  return (
    <span className={styles.verdict} data-tone={tone}>
      <span className={styles.mark} aria-hidden="true" />
      {TONE_TEXT[tone]}
    </span>
  );
}
