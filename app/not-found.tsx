import type { Metadata } from "next";
import { LabLink } from "@/app/_components/ui/lab-link";
import { Notice } from "./_components/site/notice";

export const metadata: Metadata = { title: "Not found" };

export default function NotFound() {
  return (
    <Notice eyebrow="404" title="There is nothing at this address.">
      <p>A run's page lives as long as its database; a lab that was started afresh has none of the old ones.</p>
      <p>
        <LabLink href="/">Go to the Lab</LabLink> or <LabLink href="/runs">see all runs</LabLink>.
      </p>
    </Notice>
  );
}
