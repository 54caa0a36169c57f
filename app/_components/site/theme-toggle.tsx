"use client";

import { useState } from "react";
import { nextTheme, type Theme, themeCookie } from "@/app/_lib/theme";
import styles from "./theme-toggle.module.css";

function apply(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  // document.cookie, because not every browser has the Cookie Store API.
  Object.assign(document, { cookie: themeCookie(theme) });
}

export function ThemeToggle({ initial }: { initial: Theme }) {
  const [theme, setTheme] = useState(initial);
  const next = nextTheme(theme);
  return (
    <button
      type="button"
      className={styles.toggle}
      aria-label={`Theme: ${theme}. Switch to ${next}.`}
      onClick={() => {
        setTheme(next);
        apply(next);
      }}
    >
      <span className={styles.word}>Theme</span> {theme}
    </button>
  );
}
