export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export const THEME_COOKIE = "theme";

export function themeFrom(value: string | undefined): Theme {
  return THEMES.find((theme) => theme === value) ?? "system";
}

export function nextTheme(theme: Theme): Theme {
  return THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";
}

/** Lasts one year; "system" removes the cookie. */
export function themeCookie(theme: Theme): string {
  const maxAgeSeconds = theme === "system" ? 0 : 31_536_000;
  return `${THEME_COOKIE}=${theme}; path=/; max-age=${maxAgeSeconds}; SameSite=Lax`;
}
