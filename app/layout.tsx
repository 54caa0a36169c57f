import type { Metadata, Viewport } from "next";
import { cookies } from "next/headers";
import type { ReactNode } from "react";
import { SESSION_COOKIE } from "@/lib/http/access";
import { isLoggedIn } from "@/lib/http/session";
import { LabStatusProvider } from "./_components/site/lab-status";
import { SiteHeader } from "./_components/site/site-header";
import { SiteKeys } from "./_components/site/site-keys";
import { readCatalogue } from "./_lib/lab-data";
import { THEME_COOKIE, themeFrom } from "./_lib/theme";
import "./globals.css";

export const dynamic = "force-dynamic";

export const metadata: Metadata = {
  title: { default: "Flash Sale Lab", template: "%s · Flash Sale Lab" },
  description:
    "Compare ways to guard a hot stock row during a flash sale: which stay safe, what they cost, and what breaks them.",
};

export const viewport: Viewport = {
  themeColor: [
    { media: "(prefers-color-scheme: light)", color: "#fbfbf9" },
    { media: "(prefers-color-scheme: dark)", color: "#101215" },
  ],
};

/** The theme is stored in a cookie, so that the server renders it and no inline script is needed. */
export default async function RootLayout({ children }: { children: ReactNode }) {
  const [catalogue, jar] = await Promise.all([readCatalogue(), cookies()]);
  const theme = themeFrom(jar.get(THEME_COOKIE)?.value);
  const loggedIn = await isLoggedIn(jar.get(SESSION_COOKIE)?.value);
  return (
    <html lang="en" data-theme={theme === "system" ? undefined : theme} suppressHydrationWarning>
      <body>
        <a className="skip-link" href="#main">
          Skip to main content
        </a>
        <LabStatusProvider initial={catalogue} initiallyLoggedIn={loggedIn}>
          <SiteHeader theme={theme} />
          {children}
          <SiteKeys />
        </LabStatusProvider>
      </body>
    </html>
  );
}
