"use client";

import { useEffect, useRef } from "react";
import { byFamily, type CatalogueStrategy, isUnsafeWith } from "@/app/_lib/strategy-catalogue";
import styles from "./strategy-list.module.css";

interface StrategyListProps {
  readonly strategies: readonly CatalogueStrategy[];
  readonly selected: string;
  readonly nodes: number;
  readonly onSelect: (id: string) => void;
}

function StrategyRow({ strategy, ...list }: Omit<StrategyListProps, "strategies"> & { strategy: CatalogueStrategy }) {
  const row = useRef<HTMLLabelElement>(null);
  const isSelected = strategy.id === list.selected;
  useEffect(() => {
    if (isSelected) row.current?.scrollIntoView({ block: "nearest" });
  }, [isSelected]);
  return (
    <li>
      <label
        ref={row}
        className={styles.row}
        data-unsafe={isUnsafeWith(strategy, list.nodes)}
        data-available={strategy.available}
        title={strategy.mechanism}
      >
        <input
          type="radio"
          name="strategy"
          value={strategy.id}
          checked={isSelected}
          onChange={() => list.onSelect(strategy.id)}
        />
        <span className={styles.id}>{strategy.id}</span>
        <span className={styles.remark}>{strategy.available ? strategy.remark : "unavailable"}</span>
        {strategy.available ? null : <span className={styles.reason}>{strategy.unavailableReason}</span>}
      </label>
    </li>
  );
}

/** Strategies by family, each with its remark. Radio buttons, so the arrow keys work. */
export function StrategyList({ strategies, ...list }: StrategyListProps) {
  return (
    <fieldset className={styles.list}>
      <legend className={styles.legend}>Strategy</legend>
      {byFamily(strategies).map((group) => (
        <div key={group.family} className={styles.family}>
          <h3 className={styles.name}>{group.label}</h3>
          <ul>
            {group.strategies.map((strategy) => (
              <StrategyRow key={strategy.id} strategy={strategy} {...list} />
            ))}
          </ul>
        </div>
      ))}
    </fieldset>
  );
}

/** The same choice as a native select, for phones. */
export function StrategyChooser({ strategies, selected, nodes, onSelect }: StrategyListProps) {
  const chosen = strategies.find((strategy) => strategy.id === selected);
  return (
    <label className={styles.chooser} data-unsafe={chosen !== undefined && isUnsafeWith(chosen, nodes)}>
      <span className={styles.chooserLabel}>Strategy</span>
      <select value={selected} onChange={(event) => onSelect(event.target.value)}>
        {byFamily(strategies).map((group) => (
          <optgroup key={group.family} label={group.label}>
            {group.strategies.map((strategy) => (
              <option key={strategy.id} value={strategy.id}>
                {strategy.id} ({strategy.available ? strategy.remark : "unavailable"})
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}
