import type { ShopAnswer } from "@/app/_lib/shop/answer";
import styles from "./served-by.module.css";

/** The node and the strategy that served the response. */
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
        <dd>{answer.strategy ?? "unknown"}</dd>
      </div>
      {answer.isReplayed ? (
        <div>
          <dt>Response</dt>
          <dd>repeat of the first one</dd>
        </div>
      ) : null}
    </dl>
  );
}
