import styles from "./effect-word.module.css";
import { VerdictWord } from "./verdict-word";

/** What a run under a fault shows: a verdict, or that the sale was blocked. */
export function EffectWord({ effect }: { effect: "safe" | "unsafe" | "blocked" | "inconclusive" }) {
  return effect === "blocked" ? <span className={styles.blocked}>Blocked</span> : <VerdictWord tone={effect} />;
}
