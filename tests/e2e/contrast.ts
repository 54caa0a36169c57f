/**
 * Runs in the page and returns texts with a contrast below WCAG AA (4.5, or 3 for large text). Self-contained, because only
 * its source is sent to the browser. Disabled controls are exempt, as in WCAG.
 */
export function lowContrast(): string[] {
  const canvas = document.createElement("canvas");
  canvas.width = 1;
  canvas.height = 1;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  if (pen === null) throw new Error("cannot read colours: this browser has no 2D canvas");
  const channelsOf = new Map<string, number[]>();
  /** Red, green and blue from 0 to 255, alpha from 0 to 1, for any CSS colour. */
  const channels = (colour: string): number[] => {
    const known = channelsOf.get(colour);
    if (known !== undefined) return known;
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0, alpha = 0] = pen.getImageData(0, 0, 1, 1).data;
    const found = [red, green, blue, alpha / 255];
    channelsOf.set(colour, found);
    return found;
  };
  const luminance = ([red = 0, green = 0, blue = 0]: number[]) => {
    const linear = [red, green, blue].map((value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * (linear[0] ?? 0) + 0.7152 * (linear[1] ?? 0) + 0.0722 * (linear[2] ?? 0);
  };
  const groundOf = (element: Element): number[] => {
    for (let at: Element | null = element; at !== null; at = at.parentElement) {
      const ground = channels(getComputedStyle(at).backgroundColor);
      if ((ground[3] ?? 0) > 0.99) return ground;
    }
    return channels("Canvas");
  };
  const hasOwnText = (element: Element) =>
    [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim());
  const findings: string[] = [];
  for (const element of document.querySelectorAll("body *")) {
    if (!hasOwnText(element) || !element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.closest(":disabled, option, script, style, title") !== null) continue;
    const style = getComputedStyle(element);
    const [light, dark] = [luminance(channels(style.color)), luminance(groundOf(element))].sort((a, b) => b - a);
    const ratio = ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
    const sizePx = Number.parseFloat(style.fontSize);
    const isLarge = sizePx >= 24 || (sizePx >= 18.66 && Number(style.fontWeight) >= 600);
    if (ratio < (isLarge ? 3 : 4.5)) {
      findings.push(`${ratio.toFixed(2)} "${element.textContent?.trim().slice(0, 40)}" in ${style.color}`);
    }
  }
  return findings;
}
