import type { Metadata } from "next";
import { MissingNotice } from "./_components/site/missing-notice";

export const metadata: Metadata = { title: "Not found" };

export default function NotFound() {
  return <MissingNotice />;
}
