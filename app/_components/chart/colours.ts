/** Colours for the canvas, which cannot read CSS custom properties; a probe element resolves them, light-dark() included. */
export type Palette = Record<PaletteName, string>;

const NAMES = [
  "paper",
  "ink",
  "muted",
  "line",
  "accent",
  "alarm",
  "phase-hold",
  "phase-commit",
  "phase-wait",
  "answer-sold-out",
  "phase-pool",
] as const;
export type PaletteName = (typeof NAMES)[number];

export function readPalette(host: HTMLElement): Palette {
  const probe = document.createElement("span");
  probe.hidden = true;
  host.append(probe);
  const entries = NAMES.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color] as const;
  });
  probe.remove();
  return Object.fromEntries(entries) as Palette;
}

/** Mixes a colour with its background into an opaque colour, so that overlapping bars do not get darker. */
export function mixed(colour: string, ground: string, share: number): string {
  const [over, under] = [colour, ground].map(
    (text) =>
      text
        .match(/[\d.]+/g)
        ?.slice(0, 3)
        .map(Number) ?? [],
  );
  const channels = (over ?? []).map((value, index) => Math.round(value * share + (under?.[index] ?? 0) * (1 - share)));
  return channels.length === 3 ? `rgb(${channels.join(", ")})` : colour;
}

/** Diagonal stripes. Everywhere in the lab they mean a violation, and nothing else has them. */
export function hatch(context: CanvasRenderingContext2D, colour: string, ground: string): CanvasPattern | string {
  const size = Math.round(6 * devicePixelRatio);
  const tile = document.createElement("canvas");
  tile.width = size;
  tile.height = size;
  const pen = tile.getContext("2d");
  if (pen === null) return colour;
  pen.fillStyle = ground;
  pen.fillRect(0, 0, size, size);
  pen.strokeStyle = colour;
  pen.lineWidth = size / 2.6;
  for (const offset of [-size, 0, size]) {
    pen.beginPath();
    pen.moveTo(offset - 1, size + 1);
    pen.lineTo(offset + size + 1, -1);
    pen.stroke();
  }
  return context.createPattern(tile, "repeat") ?? colour;
}

/** Calls `callback` when the toggle or the system changes the theme. */
export function onThemeChange(callback: () => void): () => void {
  const observer = new MutationObserver(callback);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", callback);
  return () => {
    observer.disconnect();
    system.removeEventListener("change", callback);
  };
}
