import type { Interleaving, InterleavingStep } from "@/lib/history/merge-steps";
import { type Markup, markup } from "./markup";

/** The steps in time order; the steps that caused the violation are marked. */
export function interleavingTable(
  { actors, steps }: Interleaving,
  timeText: (step: InterleavingStep) => string,
): Markup {
  const nameOf = new Map(actors.map(({ opId, node, buyerId }) => [opId, `${node} ${buyerId}`]));
  const lines = steps
    .filter(({ isDetail }) => !isDetail)
    .map((step) => {
      const { opId, text, isMarked } = step;
      return markup`<tr${isMarked ? markup` class="marked"` : null} data-replay="line"><th scope="row">${timeText(step)}</th><td>${nameOf.get(opId ?? "") ?? opId}</td><td>${text}${isMarked ? markup` <small>caused the violation</small>` : null}</td></tr>`;
    });
  return markup`<div class="scroll" tabindex="0"><table class="lines"><tbody>${lines}</tbody></table></div>`;
}
