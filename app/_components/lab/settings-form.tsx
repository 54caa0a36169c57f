"use client";

import { type ReactNode, useId, useState } from "react";
import type { Problems, SaleSettings } from "@/app/_hooks/use-sale-config";
import { faultDescription, faultOptions, faultProblem, faultsOfValue, faultValue } from "@/app/_lib/fault-choice";
import { plural, settingText } from "@/app/_lib/format";
import { arrivalText, DEFAULT_CONFIG, type NumericSetting, SETTINGS } from "@/app/_lib/run-config";
import { type Catalogue, engineLabel } from "@/app/_lib/strategy-catalogue";
import styles from "./settings-form.module.css";

interface RowProps {
  readonly label: string;
  readonly hint?: string;
  readonly problem?: string | undefined;
  /** Explains the chosen value; absent when the value needs no explanation. */
  readonly note?: string | undefined;
  /** The field holds a name, which needs more width than a number. */
  readonly isWide?: boolean | undefined;
  readonly children: (ids: { field: string; note: string | undefined }) => ReactNode;
}

function Row({ label, hint, problem, note: meaning, isWide, children }: RowProps) {
  const field = useId();
  const note = `${field}-note`;
  const text = problem ?? meaning;
  return (
    <div className={styles.row} data-wrong={problem !== undefined} data-wide={isWide}>
      <label htmlFor={field} title={hint}>
        {label}
      </label>
      {children({ field, note: text === undefined ? undefined : note })}
      {text === undefined ? null : (
        <p className={problem === undefined ? styles.note : styles.problem} id={note}>
          {text}
        </p>
      )}
    </div>
  );
}

interface SettingsFormProps {
  readonly settings: SaleSettings;
  readonly catalogue: Catalogue;
  /** Errors from the API by setting; shown until the setting changes. */
  readonly apiErrors: Problems;
}

function NumberRow({
  setting,
  settings,
  apiErrors,
  suffix,
}: SettingsFormProps & { setting: NumericSetting; suffix: string }) {
  const { label, hint } = SETTINGS[setting];
  const problem = settings.problems[setting] ?? apiErrors[setting];
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
  const { stock, holdMs, nodes, faults } = config;
  const faultSuffix = faults.length === 0 ? "" : `, ${faultValue(faults)}`;
  return `${plural(stock, "unit")}, ${arrivalText(config)}, hold ${settingText(holdMs)}, ${plural(nodes, "node")}${faultSuffix}`;
}

interface ChoiceRowProps {
  readonly label: string;
  readonly hint: string;
  readonly name: string;
  readonly problem?: string | undefined;
  readonly note?: string | undefined;
  readonly isWide?: boolean | undefined;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly children: ReactNode;
}

function ChoiceRow({ name, value, onChange, children, ...row }: ChoiceRowProps) {
  return (
    <Row {...row}>
      {({ field, note }) => (
        <select
          id={field}
          name={name}
          className={styles.field}
          value={value}
          aria-describedby={note}
          onChange={(event) => onChange(event.target.value)}
        >
          {children}
        </select>
      )}
    </Row>
  );
}

/** The fault to inject while the sale runs; default: none. */
function FaultRow({ settings, catalogue, apiErrors }: SettingsFormProps) {
  const { config } = settings;
  const problem = faultProblem(config, catalogue.faults) ?? apiErrors.faults;
  const meaning = faultDescription(config, catalogue.faults);
  return (
    <ChoiceRow
      label="Fault"
      hint="Fault to inject while the sale runs"
      name="fault"
      problem={problem}
      note={meaning ?? undefined}
      isWide
      value={faultValue(config.faults)}
      onChange={(value) => settings.set("faults", faultsOfValue(value))}
    >
      {faultOptions(config, catalogue.faults).map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </ChoiceRow>
  );
}

/** Rarely changed settings: folded until one differs from its default, so that the strategy list keeps its space. */
const FOLDED: readonly NumericSetting[] = ["ttlMs", "waitTimeoutMs", "seed"];

function FoldedSettings(props: SettingsFormProps & { numbers: (settings: readonly NumericSetting[]) => ReactNode }) {
  const { settings, catalogue, apiErrors, numbers } = props;
  const { config } = settings;
  const strategy = catalogue.strategies.find(({ id }) => id === config.strategy);
  const isTouched = FOLDED.some((setting) => config[setting] !== DEFAULT_CONFIG[setting]) || !config.fencing;
  const isWrong = FOLDED.some((setting) => (settings.problems[setting] ?? apiErrors[setting]) !== undefined);
  const [isOpen, setIsOpen] = useState(isTouched);
  return (
    <details className={styles.more} open={isOpen || isWrong} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>
        Lease, wait timeout, seed
        {isTouched && !isOpen ? <span className={styles.touched}>changed</span> : null}
      </summary>
      <div className={styles.rows}>
        {numbers(FOLDED)}
        {(strategy?.fencingSource ?? null) === null ? null : (
          <ChoiceRow
            label="Fencing token"
            hint="Whether PostgreSQL checks the fencing token on each write"
            name="fencing"
            value={config.fencing ? "on" : "off"}
            onChange={(value) => settings.set("fencing", value === "on")}
          >
            <option value="on">checked</option>
            <option value="off">unchecked</option>
          </ChoiceRow>
        )}
      </div>
    </details>
  );
}

/** The settings of the sale. On a phone they fold into one line, so that the result fits on the first screen. */
export function SettingsForm(props: SettingsFormProps) {
  const { settings, catalogue, apiErrors } = props;
  const { config } = settings;
  const [unfolded, setUnfolded] = useState(false);
  const wrong =
    Object.keys(settings.problems).length + Object.keys(apiErrors).length > 0 ||
    faultProblem(config, catalogue.faults) !== null;
  const suffixOf = (setting: NumericSetting) =>
    setting === "nodes" ? `of ${catalogue.nodes.length}` : SETTINGS[setting].unit;
  const numbers = (names: readonly NumericSetting[]) =>
    names.map((setting) => <NumberRow key={setting} {...props} setting={setting} suffix={suffixOf(setting)} />);
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
        <ChoiceRow
          label="Target"
          hint="What is sold"
          name="target"
          problem={apiErrors.target}
          value={config.target}
          onChange={(value) => settings.set("target", value === "coupon" ? "coupon" : "product")}
        >
          <option value="product">product</option>
          <option value="coupon">coupon</option>
        </ChoiceRow>
        {numbers(["stock"])}
        <ChoiceRow
          label="Arrival"
          hint="When the buyers arrive"
          name="arrival"
          value={config.arrival}
          onChange={(value) => settings.set("arrival", value === "rate" ? "rate" : "together")}
        >
          <option value="together">all at once</option>
          <option value="rate">at a rate</option>
        </ChoiceRow>
        {numbers(config.arrival === "rate" ? ["rate", "durationMs"] : ["buyers"])}
        {numbers(["holdMs", "nodes"])}
        <ChoiceRow
          label="Load"
          hint="Load generator that sends the purchases"
          name="engine"
          problem={apiErrors.engine}
          value={config.engine}
          onChange={(value) => settings.set("engine", value === "builtin" ? "builtin" : "k6")}
        >
          {catalogue.engines.map((engine) => (
            <option key={engine.id} value={engine.id} disabled={!engine.available} title={engine.reason ?? undefined}>
              {engineLabel(engine)}
              {engine.available ? "" : ", unavailable"}
            </option>
          ))}
        </ChoiceRow>
        <FaultRow {...props} />
        <FoldedSettings {...props} numbers={numbers} />
      </div>
    </div>
  );
}
