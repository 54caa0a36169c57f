"use client";

import "./globals.css";
import { Notice } from "./_components/site/notice";
import button from "./_components/ui/button.module.css";

/** The layout itself failed, so this page brings its own document. */
export default function GlobalErrorPage({ retry }: { error: unknown; retry: () => void }) {
  return (
    <html lang="en">
      <body>
        <title>Error · Flash Sale Lab</title>
        <Notice eyebrow="Flash Sale Lab" title="The dashboard could not put its pages together.">
          <p>
            <code>npm run lab -- doctor</code> says which of its servers is missing.
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
