import type { Metadata } from "next";
import { LearnIndex } from "../_components/learn/learn-index";

export const metadata: Metadata = { title: "Learn" };

export default function LearnPage() {
  return <LearnIndex />;
}
