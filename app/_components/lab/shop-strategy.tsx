"use client";

import { type FormEvent, useState } from "react";
import { callApi, problemSentence } from "@/app/_lib/api";
import { byFamily } from "@/app/_lib/strategy-catalogue";
import { useLabStatus } from "../site/lab-status";
import button from "../ui/button.module.css";
import { Dialog } from "../ui/dialog";
import styles from "./small-form.module.css";
import { TokenDialog } from "./token-dialog";

/** Shows and switches the strategy that all nodes use for purchases outside runs. */
export function ShopStrategy() {
  const { catalogue, refresh } = useLabStatus();
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState(catalogue.active);
  const [problem, setProblem] = useState<string | null>(null);
  const [needsAdminToken, setNeedsAdminToken] = useState(false);

  const apply = async () => {
    const result = await callApi("/api/strategy", { method: "PUT", body: { id: chosen } });
    if (!result.ok && result.problem.code === "admin_token_required") return setNeedsAdminToken(true);
    setProblem(result.ok ? null : problemSentence(result.problem));
    if (!result.ok) return;
    await refresh();
    setOpen(false);
  };

  const submit = (event: FormEvent) => {
    event.preventDefault();
    void apply();
  };

  const show = () => {
    setChosen(catalogue.active);
    setProblem(null);
    setOpen(true);
  };

  return (
    <>
      <p className={styles.line}>
        {catalogue.active === "mixed" ? (
          "Store nodes use different strategies"
        ) : (
          <>
            Shop uses <code>{catalogue.active}</code>
          </>
        )}{" "}
        ·{" "}
        <button type="button" className={button.link} onClick={show}>
          change
        </button>
      </p>
      <Dialog open={open} title="The shop's strategy" onClose={() => setOpen(false)}>
        <form className={styles.form} onSubmit={submit}>
          <p className="muted">
            Every store node uses this strategy for purchases outside runs. A run always uses its own strategy.
          </p>
          <label htmlFor="shop-strategy">Strategy</label>
          <select id="shop-strategy" value={chosen} onChange={(event) => setChosen(event.target.value)}>
            {byFamily(catalogue.strategies).map((group) => (
              <optgroup key={group.family} label={group.label}>
                {group.strategies.map((strategy) => (
                  <option key={strategy.id} value={strategy.id} disabled={!strategy.available}>
                    {strategy.id} ({strategy.available ? strategy.remark : "unavailable"})
                  </option>
                ))}
              </optgroup>
            ))}
          </select>
          <p className="alarm" role="alert">
            {problem}
          </p>
          <button type="submit" className={button.primary} disabled={chosen === catalogue.active}>
            Switch all nodes
          </button>
        </form>
      </Dialog>
      <TokenDialog
        open={needsAdminToken}
        onClose={() => setNeedsAdminToken(false)}
        onAccepted={() => {
          setNeedsAdminToken(false);
          void apply();
        }}
      />
    </>
  );
}
