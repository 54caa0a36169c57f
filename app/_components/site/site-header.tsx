"use client";

import { usePathname } from "next/navigation";
import { LabLink } from "@/app/_components/ui/lab-link";
import type { Theme } from "@/app/_lib/theme";
import { useLabStatus } from "./lab-status";
import { LogOut } from "./log-out";
import { PAGES } from "./pages";
import { ServerDots } from "./server-dots";
import styles from "./site-header.module.css";
import { ThemeToggle } from "./theme-toggle";

function isCurrent(pathname: string, href: string): boolean {
  return pathname === href || pathname.startsWith(`${href}/`);
}

export function SiteHeader({ theme }: { theme: Theme }) {
  const pathname = usePathname();
  const { labHref, isLoggedIn } = useLabStatus();
  return (
    <header className={styles.header} data-session={isLoggedIn || undefined}>
      <LabLink className={styles.brand} href={labHref}>
        Flash Sale Lab
      </LabLink>
      <nav className={styles.nav} aria-label="Pages" data-print="no">
        <LabLink href={labHref} aria-current={pathname === "/" ? "page" : undefined}>
          Lab
        </LabLink>
        {PAGES.map(({ href, label }) => (
          <LabLink key={href} href={href} aria-current={isCurrent(pathname, href) ? "page" : undefined}>
            {label}
          </LabLink>
        ))}
      </nav>
      <div className={styles.tools} data-print="no">
        <ServerDots />
        <ThemeToggle initial={theme} />
      </div>
      <LogOut />
    </header>
  );
}
