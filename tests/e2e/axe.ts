import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** The rules of WCAG that depend on colours, so on the theme. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

interface AxeOptions {
  readonly onlyColours?: boolean;
  /** Elements that are not examined, as a CSS selector. */
  readonly except?: string;
}

/** Violations of WCAG 2.2 AA with the element and the reason. */
export async function axeViolations(page: Page, { onlyColours = false, except }: AxeOptions = {}): Promise<string[]> {
  // The pages have no frames. Without legacy mode axe opens a page for each analysis, to join the results of frames.
  // Without `resultTypes` axe also describes each element that has no violation, which takes longer than to examine it.
  const axe = new AxeBuilder({ page }).options({ resultTypes: ["violations"] }).setLegacyMode();
  if (onlyColours) axe.withRules(COLOUR_RULES);
  else axe.withTags(WCAG);
  if (except !== undefined) axe.exclude(except);
  const { violations } = await axe.analyze();
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help} at ${node.target.join(" ")}: ${node.failureSummary ?? ""}`),
  );
}
