import type { Metadata } from "next";
import { LabLink } from "@/app/_components/ui/lab-link";
import { Notice } from "./_components/site/notice";

export const metadata: Metadata = { title: "Not found" };

export default function NotFound() {
  return (
    <Notice eyebrow="404" title="This page does not exist.">
      <p>Runs are stored in the lab's database. If the database is new, the pages of earlier runs do not exist.</p>
      <p>
        <LabLink href="/">Open the Lab</LabLink> or <LabLink href="/runs">see all runs</LabLink>.
      </p>
    </Notice>
  );
}
