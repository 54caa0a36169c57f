"use client";

import { useCallback, useEffect, useMemo, useState } from "react";
import { useLabStatus } from "../_components/site/lab-status";
import {
  NUMERIC_SETTINGS,
  type NumericSetting,
  problemWith,
  queryOf,
  type SaleConfig,
  settingsInUse,
} from "../_lib/run-config";

export type Texts = Readonly<Record<NumericSetting, string>>;
export type Problems = Readonly<Partial<Record<keyof SaleConfig, string>>>;

function textsOf(config: SaleConfig): Texts {
  return Object.fromEntries(NUMERIC_SETTINGS.map((setting) => [setting, String(config[setting])])) as Texts;
}

/** The sale's settings: the typed texts, their validity, and the URL that mirrors them. */
export function useSaleConfig(initial: SaleConfig, maxNodes: number) {
  const [config, setConfig] = useState(initial);
  const [texts, setTexts] = useState(() => textsOf(initial));
  const { setLabHref } = useLabStatus();

  const problems = useMemo<Problems>(() => {
    const entries = settingsInUse(config.arrival).map((setting) => [
      setting,
      problemWith(setting, texts[setting], maxNodes),
    ]);
    return Object.fromEntries(entries.filter(([, problem]) => problem !== null));
  }, [texts, maxNodes, config.arrival]);

  const set = useCallback(<K extends Exclude<keyof SaleConfig, NumericSetting>>(name: K, value: SaleConfig[K]) => {
    setConfig((before) => ({ ...before, [name]: value }));
  }, []);

  const setText = useCallback(
    (setting: NumericSetting, text: string) => {
      setTexts((before) => ({ ...before, [setting]: text }));
      if (problemWith(setting, text, maxNodes) === null) {
        setConfig((before) => ({ ...before, [setting]: Number(text) }));
      }
    },
    [maxNodes],
  );

  useEffect(() => {
    const href = `/?${queryOf(config)}`;
    window.history.replaceState(null, "", href);
    setLabHref(href);
  }, [config, setLabHref]);

  return { config, texts, problems, set, setText };
}

export type SaleSettings = ReturnType<typeof useSaleConfig>;
