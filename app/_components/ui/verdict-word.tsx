import { TONE_TEXT, type Tone } from "@/app/_lib/verdict";
import styles from "./verdict-word.module.css";

/** The verdict, never by colour alone: a filled square, a hatched one, a hollow one, and the word. */
export function VerdictWord({ tone }: { tone: Tone }) {
  return (
    <span className={styles.verdict} data-tone={tone}>
      <span className={styles.mark} aria-hidden="true" />
      {TONE_TEXT[tone]}
    </span>
  );
}
