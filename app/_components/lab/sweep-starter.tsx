"use client";

import { useRouter } from "next/navigation";
import { type FormEvent, useState } from "react";
import { useAdminRequest } from "@/app/_hooks/use-admin-request";
import { callApi, problemSentence } from "@/app/_lib/api";
import { compareHref } from "@/app/_lib/compare-selection";
import { plural } from "@/app/_lib/format";
import { arrivalText, runRequestOf, type SaleConfig } from "@/app/_lib/run-config";
import { byFamily, type Catalogue } from "@/app/_lib/strategy-catalogue";
import { MAX_RUNS, type SweepDocument } from "@/lib/runs/sweep";
import button from "../ui/button.module.css";
import { Dialog } from "../ui/dialog";
import small from "./small-form.module.css";
import styles from "./sweep-starter.module.css";
import { TokenDialog } from "./token-dialog";

const DEFAULT_REPEATS = 3;

interface SweepStarterProps {
  readonly config: SaleConfig;
  readonly catalogue: Catalogue;
  /** The settings are not valid. */
  readonly isBlocked: boolean;
  /** A run is being opened or in progress. */
  readonly isBusy: boolean;
}

/** Starts a sweep with the settings of the Lab, and opens its page on Compare. */
export function SweepStarter({ isBlocked, ...form }: SweepStarterProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <p className={small.line}>
        <button type="button" className={button.link} disabled={isBlocked} onClick={() => setOpen(true)}>
          Sweep several strategies
        </button>
      </p>
      <Dialog open={open} title="Sweep" onClose={() => setOpen(false)}>
        <SweepForm {...form} />
      </Dialog>
    </>
  );
}

function SweepForm({ config, catalogue, isBusy }: Omit<SweepStarterProps, "isBlocked">) {
  const router = useRouter();
  const available = catalogue.strategies.filter((one) => one.available);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set(available.map(({ id }) => id)));
  const [repeatsText, setRepeatsText] = useState(String(DEFAULT_REPEATS));

  const repeats = Number(repeatsText);
  const strategies = available.map(({ id }) => id).filter((id) => chosen.has(id));
  const problem = isBusy ? "A run is in progress. Wait until it has ended." : problemWith(strategies.length, repeats);
  const request = useAdminRequest(
    () => callApi<SweepDocument>("/api/sweeps", { method: "POST", body: bodyOf(config, strategies, repeats) }),
    ({ id }) => router.push(compareHref({ sweep: id })),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    request.run();
  };
  const toggle = (id: string) =>
    setChosen((known) => new Set(known.has(id) ? [...known].filter((one) => one !== id) : [...known, id]));

  return (
    <>
      <form className={small.form} onSubmit={submit}>
        <p className="muted">
          Every chosen strategy sells {plural(config.stock, "unit")} to {arrivalText(config)}. The runs alternate
          between the strategies, so that a change of the machine affects all of them.
        </p>
        <fieldset className={styles.strategies}>
          <legend>Strategies</legend>
          <p className={styles.all}>
            <button
              type="button"
              className={button.link}
              onClick={() => setChosen(new Set(available.map(({ id }) => id)))}
            >
              all
            </button>{" "}
            <button type="button" className={button.link} onClick={() => setChosen(new Set())}>
              none of them
            </button>
          </p>
          {byFamily(available).map(({ family, label, strategies: members }) => (
            <div key={family} className={styles.family}>
              <p className="muted">{label}</p>
              {members.map(({ id }) => (
                <label key={id}>
                  <input type="checkbox" checked={chosen.has(id)} onChange={() => toggle(id)} /> {id}
                </label>
              ))}
            </div>
          ))}
        </fieldset>
        <div className={styles.repeats}>
          <label htmlFor="sweep-repeats">Runs of each strategy</label>
          <input
            id="sweep-repeats"
            inputMode="numeric"
            autoComplete="off"
            value={repeatsText}
            onChange={(event) => setRepeatsText(event.target.value.trim())}
          />
        </div>
        <p className={request.problem === null ? "muted" : "alarm"} role="alert">
          {request.problem === null ? (problem ?? "") : problemSentence(request.problem)}
        </p>
        <button type="submit" className={button.primary} disabled={problem !== null || request.isSending}>
          {request.isSending
            ? "Starting …"
            : `Start ${problem === null ? plural(strategies.length * repeats, "run") : "the sweep"}`}
        </button>
      </form>
      <TokenDialog {...request.tokenDialog} />
    </>
  );
}

function problemWith(strategies: number, repeats: number): string | null {
  if (strategies === 0) return "Choose at least one strategy.";
  if (!Number.isInteger(repeats) || repeats < 1 || repeats > 100) return "Runs: a whole number from 1 to 100.";
  return strategies * repeats > MAX_RUNS ? `A sweep has at most ${MAX_RUNS} runs.` : null;
}

function bodyOf(config: SaleConfig, strategies: readonly string[], repeats: number) {
  const { strategy: _strategy, launch: _launch, ...run } = runRequestOf(config);
  return { strategies, repeats, run };
}
