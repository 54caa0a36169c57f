import type { ShopAnswer } from "@/app/_lib/shop/answer";
import styles from "./served-by.module.css";

/** Which node answered and under which strategy: what a shopper never learns elsewhere. */
export function ServedBy({ answer }: { answer: ShopAnswer | null }) {
  if (answer === null || answer.node === null) return null;
  return (
    <dl className={styles.served} data-testid="served-by">
      <div>
        <dt>Store node</dt>
        <dd>{answer.node}</dd>
      </div>
      <div>
        <dt>Strategy</dt>
        <dd>{answer.strategy ?? "not said"}</dd>
      </div>
      {answer.isReplayed ? (
        <div>
          <dt>Answer</dt>
          <dd>the first one, again</dd>
        </div>
      ) : null}
    </dl>
  );
}
