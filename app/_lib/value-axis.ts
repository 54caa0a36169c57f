const TOPS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

/** The top of a value axis: a round number with some space above the highest value. While values rise, it changes rarely. */
export function roundTop(highest: number): number {
  if (highest <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(highest));
  return (TOPS.find((top) => top * power >= highest * 1.04) ?? 12) * power;
}
