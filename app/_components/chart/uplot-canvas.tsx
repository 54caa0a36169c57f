"use client";

import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { FaultBand } from "@/app/_lib/fault-bands";
import { type TimeAxis, tickLabels } from "@/app/_lib/time-axis";
import styles from "./chart.module.css";
import { onThemeChange, type Palette, readPalette } from "./colours";
import { drawBandNames, drawBands, headFor } from "./fault-bands";
import { Y_AXIS_PX } from "./options";

export type BuildOptions = (palette: Palette) => Omit<uPlot.Options, "width" | "height">;

interface UplotCanvasProps {
  /** Must be a stable reference (module constant or memo): a new function rebuilds the chart. */
  readonly build: BuildOptions;
  readonly data: uPlot.AlignedData;
  readonly axis: TimeAxis;
  readonly height: number;
  /** Text alternative for screen readers; the table has the values. */
  readonly label: string;
  /** Index of the point under the pointer, or null. */
  readonly onPoint: (index: number | null) => void;
  /** Fault bands, drawn behind the data. */
  readonly bands: readonly FaultBand[];
}

/** Padding for half of the top label and half of the last label. */
const TOP = 10;
const RIGHT = 20;

function headIn(plot: uPlot, { bands, axis }: Pick<UplotCanvasProps, "bands" | "axis">): number {
  return headFor(plot, bands, { width: plot.width - Y_AXIS_PX - RIGHT, endS: axis.endS });
}

/** uPlot in a box of fixed height; resizes with the box and rebuilds when the theme changes. */
export function UplotCanvas({ build, data, axis, height, label, onPoint, bands }: UplotCanvasProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef({ data, axis, onPoint, bands });
  latest.current = { ...latest.current, axis, onPoint };

  useEffect(() => {
    const host = box.current;
    if (host === null) return;
    const create = () => {
      plot.current?.destroy();
      const palette = readPalette(host);
      const options = build(palette);
      const [xAxis, ...yAxes] = options.axes ?? [];
      const time = { ...xAxis, values: (_: uPlot, at: number[]) => tickLabels(latest.current.axis.unit, at) };
      const range: uPlot.Range.Function = () => [0, latest.current.axis.endS];
      plot.current = new uPlot(
        {
          ...options,
          axes: [time, ...yAxes],
          padding: [(self) => TOP + headIn(self, latest.current), RIGHT, 0, 0],
          scales: { ...options.scales, x: { time: false, range } },
          hooks: {
            ...options.hooks,
            setCursor: [(self) => latest.current.onPoint(self.cursor.idx ?? null)],
            drawClear: [(self) => drawBands(self, palette, latest.current.bands)],
            draw: [...(options.hooks?.draw ?? []), (self) => drawBandNames(self, palette, latest.current.bands)],
          },
          width: host.clientWidth,
          height,
        },
        latest.current.data,
        host,
      );
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
    latest.current = { ...latest.current, data, bands };
    const [host, chart] = [box.current, plot.current];
    if (host === null || chart === null) return;
    chart.batch(() => {
      chart.setData(data);
      // A new fault needs space for its name above the plot.
      chart.setSize({ width: host.clientWidth, height });
    });
  }, [data, bands, height]);

  return <div ref={box} className={styles.canvas} style={{ height }} role="img" aria-label={label} />;
}
