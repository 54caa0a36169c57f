"use client";

import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { FaultBand } from "@/app/_lib/fault-bands";
import styles from "./chart.module.css";
import { onThemeChange, type Palette, readPalette } from "./colours";
import { drawBands } from "./fault-bands";

export type BuildOptions = (palette: Palette) => Omit<uPlot.Options, "width" | "height">;

interface UplotCanvasProps {
  /** Must keep its identity while the chart is the same chart (module constant or memo): a new one builds anew. */
  readonly build: BuildOptions;
  readonly data: uPlot.AlignedData;
  readonly height: number;
  /** What a reader who cannot see the canvas is told; the table behind the chart has the numbers. */
  readonly label: string;
  /** Index of the point under the pointer, or null. */
  readonly onPoint: (index: number | null) => void;
  /** Faults, behind everything else. */
  readonly bands: readonly FaultBand[];
}

/** uPlot in a box of fixed height: built once, fed with data, resized with its box, rebuilt when the theme changes. */
export function UplotCanvas({ build, data, height, label, onPoint, bands }: UplotCanvasProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef({ data, onPoint, bands });
  latest.current = { data, onPoint, bands };

  useEffect(() => {
    const host = box.current;
    if (host === null) return;
    const create = () => {
      plot.current?.destroy();
      const palette = readPalette(host);
      const options = build(palette);
      const setCursor = (self: uPlot) => latest.current.onPoint(self.cursor.idx ?? null);
      const drawClear = [(self: uPlot) => drawBands(self, palette, latest.current.bands)];
      const hooks = { ...options.hooks, setCursor: [setCursor], drawClear };
      plot.current = new uPlot({ ...options, hooks, width: host.clientWidth, height }, latest.current.data, host);
    };
    create();
    const stopTheme = onThemeChange(create);
    const resizer = new ResizeObserver(() => plot.current?.setSize({ width: host.clientWidth, height }));
    resizer.observe(host);
    return () => {
      stopTheme();
      resizer.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [build, height]);

  useEffect(() => {
    plot.current?.setData(data);
  }, [data]);

  return <div ref={box} className={styles.canvas} style={{ height }} role="img" aria-label={label} />;
}
