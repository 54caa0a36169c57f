import type { Buyer, RecordedCommand, RecordedStep, Recording } from "../../lib/stock/recorded-commands";
import type { OperationTrace, StockOutcome } from "../../lib/stock/types";
import type { Seen } from "./tap";
import type { WireCommand } from "./wire/wire-reader";

export interface Bought {
  readonly buyer: Buyer;
  readonly trace: OperationTrace;
  readonly outcome: StockOutcome["status"];
}

export interface Observations {
  readonly seen: Readonly<Record<Buyer, readonly Seen[]>>;
  readonly bought: readonly Bought[];
  readonly stock: Recording["stock"];
}

/** A command to one or several servers of a kind. */
interface Draft {
  readonly kind: "command";
  readonly buyer: Buyer;
  readonly server: string;
  readonly command: WireCommand;
  readonly endpoints: Set<unknown>;
  readonly replies: string[];
  readonly atNs: bigint;
  answeredNs: bigint | null;
  times: number;
}

interface Notice {
  readonly kind: "notice";
  readonly buyer: Buyer;
  readonly server: string;
  readonly text: string;
  readonly atNs: bigint;
}

/** The longest sequence of commands of one attempt that a waiter repeats. */
const LONGEST_CYCLE = 4;

/** Puts what both buyers sent and received into one order. Repeated attempts become one, with their number. */
export function recordingOf({ seen, bought, stock }: Observations): Recording {
  const drafts = (["A", "B"] as const).map((buyer) => draftsOf(buyer, seen[buyer]));
  const commands = drafts.flatMap(({ commands }) => withoutRepeats(commands));
  const notices = drafts.flatMap(({ notices }) => notices);
  const holds = bought.map(holdOf);
  const positions = positionsOf([
    ...commands.flatMap(({ atNs, answeredNs }) => [atNs, answeredNs]),
    ...notices.map(({ atNs }) => atNs),
    ...holds.flatMap((hold) => (hold ? [hold.fromNs, hold.toNs] : [])),
  ]);
  const steps = [...commands, ...notices].map((step) => stepOf(step, positions));
  return {
    steps: steps.sort((a, b) => a.at - b.at),
    purchases: bought.map(({ buyer, outcome, trace }, index) => {
      const hold = holds[index];
      return {
        buyer,
        outcome,
        read: trace.readValue ?? null,
        written: trace.writtenValue ?? null,
        hold: hold ? { from: positions(hold.fromNs), to: positions(hold.toNs) } : null,
      };
    }),
    stock,
  };
}

function draftsOf(buyer: Buyer, seen: readonly Seen[]): { readonly commands: Draft[]; readonly notices: Notice[] } {
  const commands: Draft[] = [];
  const notices: Notice[] = [];
  const draftByCommand = new Map<WireCommand, Draft>();
  for (const one of seen) {
    const { atNs, proxy } = one;
    if (one.kind === "notice") {
      notices.push({ kind: "notice", buyer, server: proxy.server, text: one.text, atNs });
    } else if (one.kind === "sent") {
      const { command } = one;
      const draft = sameCommand(commands, one) ?? {
        kind: "command",
        buyer,
        server: proxy.server,
        command,
        endpoints: new Set(),
        replies: [],
        atNs,
        answeredNs: null,
        times: 1,
      };
      if (draft.endpoints.size === 0) commands.push(draft);
      draft.endpoints.add(proxy);
      draftByCommand.set(command, draft);
    } else {
      const draft = draftByCommand.get(one.command);
      draft?.replies.push(one.command.reply ?? "");
      if (draft) draft.answeredNs = atNs;
    }
  }
  return { commands, notices };
}

/** The same command to another server of the kind, sent before. */
function sameCommand(commands: readonly Draft[], { command, proxy }: Extract<Seen, { kind: "sent" }>) {
  const last = commands.findLast((draft) => draft.server === proxy.server && draft.command.text === command.text);
  return last && !last.endpoints.has(proxy) ? last : undefined;
}

/** Keeps the first of several equal attempts that follow each other. */
function withoutRepeats(commands: readonly Draft[]): Draft[] {
  const kept = [...commands];
  for (let at = 0; at < kept.length; at += 1) {
    for (let length = 1; length <= LONGEST_CYCLE; length += 1) {
      while (isRepeated(kept, at, length)) {
        kept.splice(at + length, length);
        for (const draft of kept.slice(at, at + length)) draft.times += 1;
      }
    }
  }
  return kept;
}

function isRepeated(commands: readonly Draft[], at: number, length: number): boolean {
  const cycle = commands.slice(at, at + length).map(signatureOf);
  const next = commands.slice(at + length, at + 2 * length).map(signatureOf);
  return next.length === length && cycle.every((signature, index) => signature === next[index]);
}

/** Equal for attempts that differ only in numbers that they send, and in times that they read. */
function signatureOf({ server, command, replies }: Draft): string {
  return [server, command.text.replace(/\d+/g, "0"), ...replies.map((reply) => reply.replace(/\d{10,}/g, "0"))].join(
    "\n",
  );
}

function holdOf({ trace: { grantedNs, releasedNs } }: Bought) {
  return grantedNs === undefined || releasedNs === undefined ? null : { fromNs: grantedNs, toNs: releasedNs };
}

function positionsOf(times: readonly (bigint | null)[]): (atNs: bigint) => number {
  const sorted = [...new Set(times.filter((time) => time !== null))].sort((a, b) => (a < b ? -1 : 1));
  const places = new Map(sorted.map((time, index) => [time, index]));
  return (atNs) => places.get(atNs) ?? 0;
}

function stepOf(step: Draft | Notice, position: (atNs: bigint) => number): RecordedStep {
  const { buyer, server, atNs } = step;
  if (step.kind === "notice") return { kind: "notice", buyer, server, text: step.text, at: position(atNs) };
  const { command, endpoints, replies, answeredNs, times } = step;
  const { name, text, values, script } = command;
  return {
    kind: "command",
    buyer,
    server,
    name,
    text,
    ...(values === undefined ? {} : { values: [...values] }),
    ...(script === undefined ? {} : { script }),
    ...(endpoints.size === 1 ? {} : { servers: endpoints.size }),
    ...(times === 1 ? {} : { times }),
    reply: answeredNs === null ? null : replyText(replies),
    at: position(atNs),
    answeredAt: answeredNs === null ? null : position(answeredNs),
  } satisfies RecordedCommand;
}

/** "OK", or "3 × OK, 2 × nil" if servers differ. */
function replyText(replies: readonly string[]): string {
  const kinds = [...new Set(replies)];
  if (kinds.length === 1) return kinds[0] ?? "";
  return kinds.map((kind) => `${replies.filter((reply) => reply === kind).length} × ${kind}`).join(", ");
}
