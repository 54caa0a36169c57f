"use client";

import { useEffect } from "react";
import { Notice } from "./_components/site/notice";
import button from "./_components/ui/button.module.css";

interface ErrorPageProps {
  readonly error: unknown;
  readonly retry: () => void;
}

/** Usual cause: PostgreSQL does not answer. The digest identifies the error in the dashboard's log. */
export default function ErrorPage({ error, retry }: ErrorPageProps) {
  useEffect(() => {
    console.error(error);
  }, [error]);
  const digest = error instanceof Error && "digest" in error ? String(error.digest) : null;
  return (
    <Notice eyebrow="Error" title="This page could not be loaded.">
      <p>
        The dashboard is running, but a server it needs did not answer. Usually that is PostgreSQL. Run{" "}
        <code>npm run lab -- doctor</code> to see which servers are missing, then try again.
      </p>
      {digest === null ? null : (
        <p>
          Error ID in the log: <code>{digest}</code>
        </p>
      )}
      <p>
        <button type="button" className={button.plain} onClick={retry}>
          Try again
        </button>
      </p>
    </Notice>
  );
}
