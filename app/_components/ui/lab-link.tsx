import Link from "next/link";
import type { ComponentProps } from "react";

/** A link without prefetch: prefetching a page queries the database and would disturb a run that is being measured. */
export function LabLink(props: Omit<ComponentProps<typeof Link>, "prefetch">) {
  return <Link prefetch={false} {...props} />;
}
