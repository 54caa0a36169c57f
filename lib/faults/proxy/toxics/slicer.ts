import { type Flow, numberOf, type ToxicKind } from "../toxic";

const MICROS_PER_MS = 1_000;

/** Cuts data into pieces of `average_size` +/- `size_variation` bytes, with `delay` microseconds after each. */
export const slicer: ToxicKind = {
  type: "slicer",
  defaults: { average_size: 0, size_variation: 0, delay: 0 },
  async pipe(flow, attributes) {
    const delayMs = numberOf(attributes, "delay") / MICROS_PER_MS;
    const sizes = { average: numberOf(attributes, "average_size"), variation: numberOf(attributes, "size_variation") };
    for (let chunk = await flow.next(); chunk; chunk = await flow.next()) {
      for (const size of pieces(flow, chunk.data.length, sizes)) {
        await flow.next();
        flow.forward(size);
        await flow.sleep(delayMs);
      }
    }
    flow.end();
  },
};

interface Sizes {
  readonly average: number;
  readonly variation: number;
}

/** Halves the length, with a random shift of the middle, until every piece is small enough. */
function pieces(flow: Flow, length: number, sizes: Sizes): number[] {
  if (length <= 1 || length - sizes.average <= sizes.variation) return [length];
  const shift = sizes.variation * (2 * flow.fraction() - 1);
  const left = Math.min(length - 1, Math.max(1, Math.floor(length / 2 + shift)));
  return [...pieces(flow, left, sizes), ...pieces(flow, length - left, sizes)];
}
