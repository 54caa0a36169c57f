import type { Chunk } from "./chunk-queue";

/** `upstream`: from the client to the server. `downstream`: from the server to the client. */
export const STREAMS = ["upstream", "downstream"] as const;
export type Stream = (typeof STREAMS)[number];

export type Attributes = Readonly<Record<string, number>>;

/**
 * One direction of one connection, as a toxic sees it. If the toxic is changed or removed, the pending call throws, and no
 * byte is lost: a chunk stays first until it is forwarded or dropped.
 */
export interface Flow {
  /** Identifies the connection; the same object in both directions. */
  readonly connection: object;
  /** The first chunk; null at the end of the stream. Waits until the next step has room. */
  next(): Promise<Chunk | null>;
  /** Like `next`; `late` if no chunk comes within the limit. */
  nextWithin(limitMs: number): Promise<Chunk | null | "late">;
  /** Passes on the first chunk, or its first `bytes` bytes. */
  forward(bytes?: number): void;
  /** Discards the first chunk, or its first `bytes` bytes. */
  drop(bytes?: number): void;
  /** Passes on the end of the stream. */
  end(): void;
  /** Closes the connection after the data that was forwarded. */
  close(): void;
  /** Ends the connection with a TCP reset. */
  reset(): void;
  sleep(delayMs: number): Promise<void>;
  nowMs(): number;
  /** Uniform in [0, 1). */
  fraction(): number;
}

/** A kind of toxic, with the names of Toxiproxy. It keeps no state: `State` belongs to one direction of one connection. */
export interface ToxicKind<State = undefined> {
  readonly type: string;
  /** Its attributes and their defaults. */
  readonly defaults: Attributes;
  /** Bytes that may wait for it. Absent: 64 KiB. */
  readonly bufferBytes?: number;
  /** Removing it closes the connections: data was lost. */
  readonly closesOnRemoval?: true;
  readonly newState?: () => State;
  /** Handles the stream until its end. */
  pipe(flow: Flow, attributes: Attributes, state: State): Promise<void>;
}

/** What a toxic did since it was added. */
export interface ToxicEffect {
  /** Bytes that passed through it or that it discarded. */
  bytes: number;
  /** Connections of which it handled data or the end. */
  connections: number;
  /** Connections that it closed or reset. */
  ended: number;
}

/** A toxic of one proxy. */
export interface Toxic {
  readonly name: string;
  readonly kind: ToxicKind<unknown>;
  readonly stream: Stream;
  /** Share of the connections that it acts on. */
  toxicity: number;
  attributes: Attributes;
  readonly effect: ToxicEffect;
}

/** Passes everything on. Stands for a toxic on connections that its toxicity spares. */
export async function passAll(flow: Flow): Promise<void> {
  while ((await flow.next()) !== null) flow.forward();
  flow.end();
}

export function numberOf(attributes: Attributes, name: string): number {
  return attributes[name] ?? 0;
}
