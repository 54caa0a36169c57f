"use client";

import { type FormEvent, useState } from "react";
import { callApi, problemSentence } from "@/app/_lib/api";
import { TokenDialog } from "../lab/token-dialog";
import button from "../ui/button.module.css";
import styles from "./opening-control.module.css";

interface OpeningControlProps {
  readonly kind: "product" | "coupon";
  readonly id: number;
  readonly onChanged: () => void;
}

const CHOICES = [
  { ms: 10_000, label: "in 10 seconds" },
  { ms: 60_000, label: "in a minute" },
  { ms: 300_000, label: "in five minutes" },
  { ms: 3_600_000, label: "in an hour" },
  { ms: 0, label: "now" },
];

/** Seller's control: sets when the sale opens. */
export function OpeningControl({ kind, id, onChanged }: OpeningControlProps) {
  const [opensInMs, setOpensInMs] = useState(10_000);
  const [problem, setProblem] = useState<string | null>(null);
  const [needsAdminToken, setNeedsAdminToken] = useState(false);
  const [isBusy, setIsBusy] = useState(false);

  const apply = async () => {
    setIsBusy(true);
    const result = await callApi(`/api/${kind}s/${id}/opening`, { method: "PUT", body: { opensInMs } });
    setIsBusy(false);
    if (!result.ok && result.problem.code === "admin_token_required") return setNeedsAdminToken(true);
    setProblem(result.ok ? null : problemSentence(result.problem));
    onChanged();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void apply();
  };

  return (
    <section className={styles.control} aria-labelledby="opening">
      <h2 id="opening">For the seller</h2>
      <form className={styles.form} onSubmit={submit}>
        <label htmlFor="opens-in">Open the sale</label>
        <select id="opens-in" value={opensInMs} onChange={(event) => setOpensInMs(Number(event.target.value))}>
          {CHOICES.map(({ ms, label }) => (
            <option key={ms} value={ms}>
              {label}
            </option>
          ))}
        </select>
        <button type="submit" className={button.plain} disabled={isBusy}>
          {isBusy ? "Setting …" : "Set"}
        </button>
      </form>
      <p className="muted">
        Before that time, buyers cannot {kind === "product" ? "buy" : "claim"}. All store nodes apply the change within
        a second.
      </p>
      <p className="alarm" role="alert">
        {problem}
      </p>
      <TokenDialog
        open={needsAdminToken}
        onClose={() => setNeedsAdminToken(false)}
        onAccepted={() => {
          setNeedsAdminToken(false);
          void apply();
        }}
      />
    </section>
  );
}
