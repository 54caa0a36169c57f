import Link from "next/link";
import type { ComponentProps } from "react";

/** A link that fetches nothing ahead: every page reads the database, and a sale may be under measurement on the same machine. */
export function LabLink(props: Omit<ComponentProps<typeof Link>, "prefetch">) {
  return <Link prefetch={false} {...props} />;
}
