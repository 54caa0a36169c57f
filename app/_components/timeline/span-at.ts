import { spansInView } from "@/app/_lib/timeline-view";
import { LABEL_WIDTH, type Scene } from "./draw";

/** Index of the span under a point; null if there is none. */
export function spanAt(scene: Scene, point: { x: number; y: number }): number | null {
  const { range, boxes, spans } = scene;
  const width = Math.max(1, scene.width - LABEL_WIDTH);
  const perPixel = (range.toUs - range.fromUs) / width;
  const atUs = range.fromUs + (point.x - LABEL_WIDTH) * perPixel;
  const lane = boxes.findIndex(({ top, height }) => point.y >= top && point.y <= top + height);
  const box = boxes[lane];
  if (!box || point.x < LABEL_WIDTH) return null;
  const row = Math.floor((point.y - box.top) / box.rowHeight);
  const near = { fromUs: atUs - 2 * perPixel, toUs: atUs + 2 * perPixel };
  const found = spansInView(spans, near).filter((index) => spans.lane[index] === lane);
  const distance = (index: number) => Math.abs((spans.row[index] ?? 0) - row);
  return found.sort((a, b) => distance(a) - distance(b))[0] ?? null;
}
