"use client";

import { LabLink } from "@/app/_components/ui/lab-link";
import { type RunListQuery, runListHref } from "@/app/_lib/run-list-href";
import { TONE_TEXT } from "@/app/_lib/verdict";
import { FAULT_IDS } from "@/lib/faults/ids";
import { RUN_STATES } from "@/lib/runs/run-states";
import button from "../ui/button.module.css";
import styles from "./run-filters.module.css";

/** What the stored runs have. */
export interface FilterChoices {
  readonly strategies: readonly string[];
  readonly sweeps: readonly string[];
}

interface RunFiltersProps {
  readonly query: RunListQuery;
  readonly choices: FilterChoices;
}

type Choice = readonly [value: string, label: string];
const plain = (values: readonly string[]): Choice[] => values.map((value) => [value, value]);

/** Filters of the list of runs, which its address carries. */
export function RunFilters({ query, choices }: RunFiltersProps) {
  const { filter, picked } = query;
  const selects: readonly { name: keyof typeof filter; label: string; choices: readonly Choice[] }[] = [
    { name: "strategy", label: "Strategy", choices: plain(choices.strategies) },
    { name: "verdict", label: "Verdict", choices: RUN_STATES.map((state) => [state, TONE_TEXT[state]]) },
    { name: "fault", label: "Fault", choices: plain(FAULT_IDS) },
    { name: "sweep", label: "Sweep", choices: plain(choices.sweeps) },
  ];
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <search className={styles.filters}>
      <form action="/runs" method="get" className={styles.form}>
        {selects
          .filter((select) => select.choices.length > 0)
          .map((select) => (
            <label key={select.name}>
              {select.label}
              <select
                name={filter[select.name] === undefined ? undefined : select.name}
                defaultValue={filter[select.name] ?? ""}
                onChange={({ currentTarget }) => {
                  // An empty choice is left out of the address.
                  if (currentTarget.value === "") currentTarget.removeAttribute("name");
                  else currentTarget.name = select.name;
                  currentTarget.form?.requestSubmit();
                }}
              >
                <option value="">any</option>
                {select.choices.map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
            </label>
          ))}
        {picked.length > 0 ? <input type="hidden" name="runs" value={picked.join(",")} /> : null}
        {isFiltered ? (
          <LabLink className={button.link} href={runListHref({ filter: {}, page: 1, picked })}>
            Show all runs
          </LabLink>
        ) : null}
      </form>
    </search>
  );
}
