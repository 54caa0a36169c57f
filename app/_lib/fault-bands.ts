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
  /** Rows for names. If they need more, the last row has the number of further faults in place of their names. */
  readonly maxRows: number;
}

export interface PlacedBand {
  readonly x: number;
  readonly width: number;
  /** The fault's name; empty if it is not shown. */
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
  const placed = bands.map(({ label, fromS, toS }) => {
    const [from, to] = [xOf(fromS), xOf(toS)];
    const x = Math.min(Math.max(left, from), right - minWidth);
    const text = from > right ? `${label} →` : to < left ? `← ${label}` : label;
    return { x, width: Math.max(minWidth, Math.min(right, to) - x), text, textWidth: widthOf(text) };
  });
  placed.sort((a, b) => a.x - b.x);
  return withLimitedRows(inRows(placed, space), space);
}

type Unplaced = Omit<PlacedBand, "textX" | "row">;

/** Each name in the first row that has space for it. */
function inRows(bands: readonly Unplaced[], space: BandSpace): PlacedBand[] {
  const gap = GAP * space.minWidth;
  const rowEnds: number[] = [];
  return bands.map((band) => {
    const textX = nameX(band, space);
    const free = rowEnds.findIndex((end) => end + gap <= textX);
    const row = free === -1 ? rowEnds.length : free;
    rowEnds[row] = textX + band.textWidth;
    return { ...band, textX, row };
  });
}

function nameX({ x, textWidth }: Pick<Unplaced, "x" | "textWidth">, { left, width, minWidth }: BandSpace): number {
  const gap = GAP * minWidth;
  return Math.max(left, Math.min(x + gap, left + width - textWidth - gap));
}

/** Names that do not fit become one text with their number, in the last row. */
function withLimitedRows(bands: PlacedBand[], space: BandSpace): PlacedBand[] {
  const lastRow = space.maxRows - 1;
  if (bands.every(({ row }) => row <= lastRow)) return bands;
  const hidden = bands.filter(({ row }) => row >= lastRow);
  const text = `+${hidden.length} faults`;
  return bands.map((band) => {
    if (band.row < lastRow) return band;
    const own = band === hidden[0] ? text : "";
    const textWidth = own === "" ? 0 : space.widthOf(own);
    return { ...band, text: own, textWidth, textX: nameX({ x: band.x, textWidth }, space), row: lastRow };
  });
}
