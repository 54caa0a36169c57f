"use client";

import { usePathname } from "next/navigation";
import { missingPage } from "@/app/_lib/missing-page";
import { LabLink } from "../ui/lab-link";
import { Notice } from "./notice";

/** Says what the address asked for and that it does not exist. */
export function MissingNotice() {
  const { title, advice, links } = missingPage(usePathname());
  return (
    <Notice eyebrow="404" title={title}>
      <p>{advice}</p>
      <p>
        {links.map(([text, href], index) => (
          <span key={href}>
            {index === 0 ? "" : " · "}
            <LabLink href={href}>{text}</LabLink>
          </span>
        ))}
      </p>
    </Notice>
  );
}
