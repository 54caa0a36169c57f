import { countdownText } from "@/app/_lib/shop/countdown";

/** Remaining time in a monospaced font. Hidden from screen readers, which get `spokenCountdown` instead. */
export function Countdown({ leftMs }: { leftMs: number }) {
  return (
    <span className="mono" aria-hidden="true">
      {countdownText(leftMs)}
    </span>
  );
}
