import type { Buyer, RecordedCommand, RecordedStep, Recording } from "@/lib/stock/recorded-commands";
import { commandLabel, messageLabel } from "./command-label";

/** One arrow of the sequence diagram. */
export interface SequenceRow {
  readonly key: string;
  readonly kind: "call" | "reply" | "notice";
  readonly buyer: Buyer;
  readonly server: string;
  readonly text: string;
  /** For narrow screens. */
  readonly shortText: string;
  /** The reply, if it came before anything else happened. */
  readonly reply: string | null;
  readonly position: number;
}

export interface Sequence {
  readonly rows: readonly SequenceRow[];
  /** First and last row during which each buyer was in the critical section. */
  readonly holds: readonly { readonly buyer: Buyer; readonly from: number; readonly to: number }[];
}

const MAX_TEXT = 78;
const MAX_REPLY = 40;
const MAX_SHORT = 14;

/** The arrows of a recording, from top to bottom. */
export function sequenceOf({ steps, purchases }: Recording): Sequence {
  const rows = steps.flatMap((step, index) => rowsOf(step, { index, steps })).sort((a, b) => a.position - b.position);
  const holds = purchases.flatMap(({ buyer, hold }) => {
    if (hold === null) return [];
    const inside = rows.flatMap(({ position }, row) => (position > hold.from && position < hold.to ? [row] : []));
    const [from] = inside;
    const to = inside.at(-1);
    return from === undefined || to === undefined ? [] : [{ buyer, from, to }];
  });
  return { rows, holds };
}

function rowsOf(step: RecordedStep, place: { readonly index: number; readonly steps: readonly RecordedStep[] }) {
  const { buyer, server, at } = step;
  const common = { buyer, server, position: at };
  const key = String(place.index);
  if (step.kind === "notice") {
    const text = cut(messageLabel(step.text), MAX_TEXT);
    return [{ ...common, key, kind: "notice", text, shortText: "notice", reply: null } satisfies SequenceRow];
  }
  const text = `${commandLabel(step, MAX_TEXT)}${repeatText(step)}`;
  const shortText = cut(`${step.name}${step.times === undefined ? "" : ` × ${step.times}`}`, MAX_SHORT);
  const reply = step.reply === null ? "" : cut(messageLabel(step.reply), MAX_REPLY);
  const isInline = step.answeredAt === null || !isInterrupted(step, place.steps);
  const call: SequenceRow = { ...common, key, kind: "call", text, shortText, reply: isInline ? reply : null };
  if (isInline || step.answeredAt === null) return [call];
  const shortReply = cut(reply, MAX_SHORT);
  const later = {
    ...common,
    key: `${key} reply`,
    kind: "reply",
    text: reply,
    shortText: shortReply,
    reply: null,
  } as const;
  return [call, { ...later, position: step.answeredAt }];
}

/** Something else happened between the command and its reply. */
function isInterrupted({ at, answeredAt }: RecordedCommand, steps: readonly RecordedStep[]): boolean {
  const end = answeredAt ?? at;
  return steps.some((other) => {
    const moments = other.kind === "command" ? [other.at, other.answeredAt ?? other.at] : [other.at];
    return moments.some((moment) => moment > at && moment < end);
  });
}

function repeatText({ times, servers }: RecordedCommand): string {
  return `${servers === undefined ? "" : `  to ${servers} servers`}${times === undefined ? "" : `  × ${times}`}`;
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
