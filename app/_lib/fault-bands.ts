/** A fault on a chart's time axis; it may begin before the axis and end after it. */
export interface FaultBand {
  readonly label: string;
  readonly fromS: number;
  readonly toS: number;
}

/** Drawing area of the bands, in units of the renderer. */
export interface BandSpace {
  readonly left: number;
  readonly width: number;
  readonly xOf: (seconds: number) => number;
  readonly widthOf: (text: string) => number;
  /** Minimum width of a band. */
  readonly minWidth: number;
}

export interface PlacedBand {
  readonly x: number;
  readonly width: number;
  readonly text: string;
  readonly textX: number;
  readonly textWidth: number;
  /** Row of the name; names that would overlap use different rows. */
  readonly row: number;
}

/** Gap around names, in multiples of the minimum band width. */
const GAP = 1;

/** Positions of bands and names. A band outside the chart is drawn at its edge, with an arrow. */
export function placeBands(bands: readonly FaultBand[], space: BandSpace): PlacedBand[] {
  const { left, width, xOf, widthOf, minWidth } = space;
  const right = left + width;
  const rowEnds: number[] = [];
  const placed = bands.map(({ label, fromS, toS }) => {
    const [from, to] = [xOf(fromS), xOf(toS)];
    const x = Math.min(Math.max(left, from), right - minWidth);
    const text = from > right ? `${label} →` : to < left ? `← ${label}` : label;
    return { x, width: Math.max(minWidth, Math.min(right, to) - x), text, textWidth: widthOf(text) };
  });
  placed.sort((a, b) => a.x - b.x);
  return placed.map((band) => {
    const gap = GAP * minWidth;
    const textX = Math.max(left, Math.min(band.x + gap, right - band.textWidth - gap));
    const free = rowEnds.findIndex((end) => end + gap <= textX);
    const row = free === -1 ? rowEnds.length : free;
    rowEnds[row] = textX + band.textWidth;
    return { ...band, textX, row };
  });
}
