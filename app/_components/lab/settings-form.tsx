"use client";

import { type ReactNode, useId, useState } from "react";
import type { Problems, SaleSettings } from "@/app/_hooks/use-sale-config";
import { type Catalogue, engineLabel } from "@/app/_lib/catalogue";
import { plural } from "@/app/_lib/format";
import { NUMERIC_SETTINGS, type NumericSetting, SETTINGS } from "@/app/_lib/run-config";
import styles from "./settings-form.module.css";

interface RowProps {
  readonly label: string;
  readonly hint?: string;
  readonly problem: string | undefined;
  readonly children: (ids: { field: string; note: string | undefined }) => ReactNode;
}

function Row({ label, hint, problem, children }: RowProps) {
  const field = useId();
  const note = `${field}-note`;
  return (
    <div className={styles.row} data-wrong={problem !== undefined}>
      <label htmlFor={field} title={hint}>
        {label}
      </label>
      {children({ field, note: problem === undefined ? undefined : note })}
      {problem === undefined ? null : (
        <p className={styles.problem} id={note}>
          {problem}
        </p>
      )}
    </div>
  );
}

interface SettingsFormProps {
  readonly settings: SaleSettings;
  readonly catalogue: Catalogue;
  /** What the API refused, by setting; shown until the setting changes. */
  readonly refused: Problems;
}

function NumberRow({
  setting,
  settings,
  refused,
  suffix,
}: SettingsFormProps & { setting: NumericSetting; suffix: string }) {
  const { label, hint } = SETTINGS[setting];
  const problem = settings.problems[setting] ?? refused[setting];
  return (
    <Row label={label} hint={hint} problem={problem}>
      {({ field, note }) => (
        <span className={styles.field}>
          <input
            id={field}
            name={setting}
            inputMode="numeric"
            autoComplete="off"
            value={settings.texts[setting]}
            aria-invalid={problem !== undefined}
            aria-describedby={note}
            onChange={(event) => settings.setText(setting, event.target.value.replace(/[\s,]/g, ""))}
          />
          <span className={styles.suffix}>{suffix}</span>
        </span>
      )}
    </Row>
  );
}

function summaryOf({ config }: SaleSettings): string {
  const { stock, buyers, holdMs, nodes } = config;
  return `${plural(stock, "unit")}, ${plural(buyers, "buyer")}, hold ${holdMs} ms, ${plural(nodes, "node")}`;
}

/** The sale's settings. On a phone they fold into a line, so that the result is on the first screen. */
export function SettingsForm(props: SettingsFormProps) {
  const { settings, catalogue, refused } = props;
  const [unfolded, setUnfolded] = useState(false);
  const wrong = Object.keys(settings.problems).length + Object.keys(refused).length > 0;
  const suffixOf = (setting: NumericSetting) =>
    setting === "nodes" ? `of ${catalogue.nodes.length}` : SETTINGS[setting].unit;
  return (
    <div className={styles.settings}>
      <button
        type="button"
        className={styles.fold}
        aria-expanded={unfolded || wrong}
        onClick={() => setUnfolded(!unfolded)}
      >
        <span>{summaryOf(settings)}</span>
        <span className={styles.change}>{unfolded || wrong ? "done" : "change"}</span>
      </button>
      <div className={styles.rows} data-unfolded={unfolded || wrong}>
        <Row label="Target" hint="What is sold" problem={refused.target}>
          {({ field, note }) => (
            <select
              id={field}
              name="target"
              className={styles.field}
              value={settings.config.target}
              aria-describedby={note}
              onChange={(event) => settings.set("target", event.target.value === "coupon" ? "coupon" : "product")}
            >
              <option value="product">product</option>
              <option value="coupon">coupon</option>
            </select>
          )}
        </Row>
        {NUMERIC_SETTINGS.map((setting) => (
          <NumberRow key={setting} {...props} setting={setting} suffix={suffixOf(setting)} />
        ))}
        <Row label="Load" hint="What sends the purchases" problem={refused.engine}>
          {({ field, note }) => (
            <select
              id={field}
              name="engine"
              className={styles.field}
              value={settings.config.engine}
              aria-describedby={note}
              onChange={(event) => settings.set("engine", event.target.value === "builtin" ? "builtin" : "k6")}
            >
              {catalogue.engines.map((engine) => (
                <option
                  key={engine.id}
                  value={engine.id}
                  disabled={!engine.available}
                  title={engine.reason ?? undefined}
                >
                  {engineLabel(engine)}
                  {engine.available ? "" : ", absent"}
                </option>
              ))}
            </select>
          )}
        </Row>
      </div>
    </div>
  );
}
