"use client";

import "./globals.css";
import { Notice } from "./_components/site/notice";
import button from "./_components/ui/button.module.css";

/** Replaces the whole document when the root layout fails. */
export default function GlobalErrorPage({ retry }: { error: unknown; retry: () => void }) {
  return (
    <html lang="en">
      <body>
        <title>Error · Flash Sale Lab</title>
        <Notice eyebrow="Flash Sale Lab" title="The dashboard could not load its pages.">
          <p>
            Run <code>npm run lab -- doctor</code> to see which server is missing, then try again.
          </p>
          <p>
            <button type="button" className={button.plain} onClick={retry}>
              Try again
            </button>
          </p>
        </Notice>
      </body>
    </html>
  );
}
