import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** Violations of WCAG 2.2 AA with the element and the reason. */
export async function axeViolations(page: Page): Promise<string[]> {
  // The pages have no frames. Without legacy mode axe opens a page for each analysis, to join the results of frames.
  const { violations } = await new AxeBuilder({ page }).withTags(WCAG).setLegacyMode().analyze();
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help} at ${node.target.join(" ")}: ${node.failureSummary ?? ""}`),
  );
}
