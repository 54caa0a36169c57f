import { twoDigits } from "../format";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** `0:09`, `14:32`, `2:04:10`, `3 d 02:04:10`. Rounded up, so that it shows zero exactly at the end. */
export function countdownText(leftMs: number): string {
  const seconds = Math.max(0, Math.ceil(leftMs / SECOND_MS));
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return `${days} d ${twoDigits(hours)}:${twoDigits(minutes)}:${twoDigits(seconds % 60)}`;
  if (hours > 0) return `${hours}:${twoDigits(minutes)}:${twoDigits(seconds % 60)}`;
  return `${minutes}:${twoDigits(seconds % 60)}`;
}

/** Remaining time as text that changes rarely, for screen readers. */
const SPOKEN: readonly (readonly [number, string])[] = [
  [10 * SECOND_MS, "in ten seconds"],
  [MINUTE_MS, "in less than a minute"],
  [2 * MINUTE_MS, "in two minutes"],
  [5 * MINUTE_MS, "in five minutes"],
  [15 * MINUTE_MS, "in a quarter of an hour"],
  [HOUR_MS, "within the hour"],
  [DAY_MS, "within a day"],
];

export function spokenCountdown(leftMs: number): string {
  if (leftMs <= 0) return "now";
  return SPOKEN.find(([upToMs]) => leftMs <= upToMs)?.[1] ?? "in more than a day";
}

/** A rounded duration: 30 seconds, 15 minutes, 2 hours. */
export function spanText(spanMs: number): string {
  if (spanMs >= 2 * DAY_MS) return `${Math.round(spanMs / DAY_MS)} days`;
  if (spanMs >= 2 * HOUR_MS) return `${Math.round(spanMs / HOUR_MS)} hours`;
  if (spanMs >= 2 * MINUTE_MS) return `${Math.round(spanMs / MINUTE_MS)} minutes`;
  const seconds = Math.max(1, Math.round(spanMs / SECOND_MS));
  return seconds === 1 ? "1 second" : `${seconds} seconds`;
}
