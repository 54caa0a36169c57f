import type { ExpectedEffect } from "../../lib/faults/fault";
import { expectedResult, type FaultEffects, faultEffects } from "../../lib/faults/fault-effects";
import { FAULT_SYNTAX } from "../../lib/faults/fault-text";
import { traitsOf } from "../../lib/stock/stock-strategies";

/** What `npm run lab -- faults --list` prints: every fault and its effect on the strategies. */

/** @param strategy shows the effect on this strategy only */
export function faultListJson(strategy: string | undefined): string {
  const faults = faultEffects();
  if (strategy === undefined) return JSON.stringify(faults, null, 2);
  const traits = traitsOf(strategy);
  return JSON.stringify(
    faults.map(({ id, does }) => ({ id, does, ...expectedResult(id, traits) })),
    null,
    2,
  );
}

/** @param strategy shows the effect on this strategy only */
export function faultListText(strategy: string | undefined): string {
  const blocks = faultEffects().map((fault) =>
    strategy === undefined ? allEffects(fault) : effectOn(strategy, fault),
  );
  const usage = `npm run lab -- run --strategy ${strategy ?? "<id>"} --fault ${FAULT_SYNTAX}`;
  return [...blocks, `  ${usage}`, ""].join("\n");
}

function allEffects({ id, does, proof, strategies, notApplicable }: FaultEffects): string {
  const { unsafe, blocked, safe } = strategies;
  const lines = [
    `  ${id}`,
    `    ${does}`,
    `    proof    ${proof}`,
    `    unsafe   ${unsafe.join(", ") || "none of the strategies that are safe without it"}`,
    ...(blocked.length === 0 ? [] : [`    blocked  ${blocked.join(", ")}`]),
    `    safe     ${safe.join(", ") || "none"}`,
    ...notApplicable.map(({ reason, strategies: ids }) => `    does not apply to ${ids.join(", ")}: ${reason}`),
    "",
  ];
  return lines.join("\n");
}

function effectOn(strategy: string, { id, does }: FaultEffects): string {
  const { expected, reason } = expectedResult(id, traitsOf(strategy));
  const sentence =
    expected === "not applicable"
      ? `does not apply to ${strategy}: ${reason}`
      : `${strategy} is expected to ${EFFECT_WORDS[expected]}. ${reason}`;
  return [`  ${id}`, `    ${does}`, `    ${sentence}`, ""].join("\n");
}

const EFFECT_WORDS: Record<ExpectedEffect, string> = {
  unsafe: "become unsafe",
  blocked: "sell no more units",
  safe: "stay as safe as it is without the fault",
};
