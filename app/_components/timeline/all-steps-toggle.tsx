import styles from "./interleaving.module.css";

/** Also shows the steps of an interleaving that are folded at first. */
export function AllStepsToggle(props: { readonly isOn: boolean; readonly onChange: (isOn: boolean) => void }) {
  return (
    <label className={styles.allSteps} data-print="no">
      <input type="checkbox" checked={props.isOn} onChange={(event) => props.onChange(event.target.checked)} /> show
      every step
    </label>
  );
}
