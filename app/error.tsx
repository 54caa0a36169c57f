"use client";

import { useEffect } from "react";
import { Notice } from "./_components/site/notice";
import button from "./_components/ui/button.module.css";

interface ErrorPageProps {
  readonly error: unknown;
  readonly retry: () => void;
}

/** Most often: PostgreSQL is out of reach. The digest finds the error in the dashboard's log. */
export default function ErrorPage({ error, retry }: ErrorPageProps) {
  useEffect(() => {
    console.error(error);
  }, [error]);
  const digest = error instanceof Error && "digest" in error ? String(error.digest) : null;
  return (
    <Notice eyebrow="Error" title="This page could not be put together.">
      <p>
        The dashboard runs, but something it needed did not answer; most often that is PostgreSQL.{" "}
        <code>npm run lab -- doctor</code> says what is there.
      </p>
      {digest === null ? null : (
        <p>
          In the log: <code>{digest}</code>
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
