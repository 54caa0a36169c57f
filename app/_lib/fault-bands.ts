/** A fault's time on a chart, in the chart's seconds; it may begin before the chart does and end after it. */
export interface FaultBand {
  readonly label: string;
  readonly fromS: number;
  readonly toS: number;
}

/** What a band is drawn into, in pixels of whatever draws it. */
export interface BandSpace {
  readonly left: number;
  readonly width: number;
  readonly xOf: (seconds: number) => number;
  readonly widthOf: (text: string) => number;
  /** However short a fault was, it is this wide. */
  readonly leastWidth: number;
}

export interface PlacedBand {
  readonly x: number;
  readonly width: number;
  readonly text: string;
  readonly textX: number;
  readonly textWidth: number;
  /** Names that would run into each other stand one below the other. */
  readonly row: number;
}

/** Between a band's edge and its name, and between two names, in widths of the narrowest band. */
const GAP = 1;

/** Where bands and their names go. What lies outside of the chart is shown at its edge, with an arrow to where it is. */
export function placeBands(bands: readonly FaultBand[], space: BandSpace): PlacedBand[] {
  const { left, width, xOf, widthOf, leastWidth } = space;
  const right = left + width;
  const rowEnds: number[] = [];
  const placed = bands.map(({ label, fromS, toS }) => {
    const [from, to] = [xOf(fromS), xOf(toS)];
    const x = Math.min(Math.max(left, from), right - leastWidth);
    const text = from > right ? `${label} →` : to < left ? `← ${label}` : label;
    return { x, width: Math.max(leastWidth, Math.min(right, to) - x), text, textWidth: widthOf(text) };
  });
  placed.sort((a, b) => a.x - b.x);
  return placed.map((band) => {
    const gap = GAP * leastWidth;
    const textX = Math.max(left, Math.min(band.x + gap, right - band.textWidth - gap));
    const free = rowEnds.findIndex((end) => end + gap <= textX);
    const row = free === -1 ? rowEnds.length : free;
    rowEnds[row] = textX + band.textWidth;
    return { ...band, textX, row };
  });
}
