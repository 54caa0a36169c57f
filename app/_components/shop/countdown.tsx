import { countdownText } from "@/app/_lib/shop/countdown";

/** Time that is left, in figures of one width. Not read aloud: what is said of it changes seldomer, and elsewhere. */
export function Countdown({ leftMs }: { leftMs: number }) {
  return (
    <span className="mono" aria-hidden="true">
      {countdownText(leftMs)}
    </span>
  );
}
