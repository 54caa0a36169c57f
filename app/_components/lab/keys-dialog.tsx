import { Dialog } from "../ui/dialog";
import styles from "./keys-dialog.module.css";

const KEYS = [
  { keys: ["R"], does: "Run the sale as it is set up" },
  { keys: ["J"], does: "Next strategy" },
  { keys: ["K"], does: "Strategy before" },
  { keys: ["?"], does: "These keys" },
  { keys: ["Esc"], does: "Close what is open" },
];

export function KeysDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} title="Keys" onClose={onClose}>
      <dl className={styles.keys}>
        {KEYS.map(({ keys, does }) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p className={styles.note}>
        The whole configuration is in the address: send the link, and the other sees this sale.
      </p>
    </Dialog>
  );
}
