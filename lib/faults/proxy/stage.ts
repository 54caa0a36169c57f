import type { Clock } from "../../locks/clock";
import type { RandomSource } from "../../locks/random";
import type { Chunk, ChunkQueue } from "./chunk-queue";
import { type Flow, passAll, type Toxic } from "./toxic";

export interface ProxyDependencies {
  readonly clock: Clock;
  readonly random: RandomSource;
}

export interface StageOptions extends ProxyDependencies {
  readonly toxic: Toxic;
  readonly input: ChunkQueue;
  readonly output: ChunkQueue;
  /** Identifies the connection. */
  readonly connection: object;
  /** Resets the connection. */
  readonly reset: () => void;
}

/** Thrown in the code of a toxic when it is changed or removed, or when the connection ends. */
class Interrupted extends Error {}

/** One toxic in one direction of one connection. */
export class Stage {
  readonly toxic: Toxic;
  readonly input: ChunkQueue;
  /** Changes when another stage is put behind this one. */
  output: ChunkQueue;
  private readonly state: unknown;
  private hasActed = false;
  private run = new AbortController();

  constructor(private readonly options: StageOptions) {
    this.toxic = options.toxic;
    this.input = options.input;
    this.output = options.output;
    this.state = this.toxic.kind.newState?.();
    this.start();
  }

  /** Applies the toxic's current attributes and toxicity. */
  restart(): void {
    this.stop();
    this.run = new AbortController();
    this.start();
  }

  /** After this call the toxic changes nothing. */
  stop(): void {
    this.run.abort();
  }

  private start(): void {
    const { kind, toxicity, attributes } = this.toxic;
    const isToxic = this.options.random.fraction() < toxicity;
    const flow = this.flow(this.run.signal, isToxic);
    const piped = isToxic ? kind.pipe(flow, attributes, this.state) : passAll(flow);
    void piped.catch((error: unknown) => {
      if (!(error instanceof Interrupted)) throw error;
    });
  }

  private flow(signal: AbortSignal, isToxic: boolean): Flow {
    const { clock, random, connection, reset } = this.options;
    const note = (did: { bytes?: number; ended?: number }) => {
      if (signal.aborted) throw new Interrupted();
      if (isToxic) this.note(did);
    };
    const untilChanged = async (limitMs?: number) => {
      await this.changed(signal, limitMs);
      if (signal.aborted) throw new Interrupted();
    };
    const nextWithin = async (limitMs: number) => {
      const deadlineMs = clock.nowMs() + limitMs;
      for (;;) {
        const next = this.ready();
        if (next !== undefined) return next;
        const leftMs = deadlineMs - clock.nowMs();
        if (leftMs <= 0) return "late";
        await untilChanged(leftMs);
      }
    };
    return {
      connection,
      next: async () => (await nextWithin(Infinity)) as Chunk | null,
      nextWithin,
      forward: (bytes = Infinity) => {
        note({});
        const chunk = this.input.take(bytes);
        note({ bytes: chunk.data.length });
        this.output.push(chunk);
      },
      drop: (bytes = Infinity) => {
        note({});
        note({ bytes: this.input.take(bytes).data.length });
      },
      end: () => {
        note({});
        this.output.finish(this.input.end ?? "half");
      },
      close: () => {
        note({ ended: 1 });
        this.output.finish("closed");
      },
      reset: () => {
        note({ ended: 1 });
        reset();
      },
      sleep: async (delayMs) => {
        if (delayMs > 0) await clock.sleep(delayMs, signal);
        if (signal.aborted) throw new Interrupted();
      },
      nowMs: () => clock.nowMs(),
      fraction: () => random.fraction(),
    };
  }

  /** Undefined while there is no chunk, or the next step has no room. */
  private ready(): Chunk | null | undefined {
    if (this.input.end !== null) return null;
    return this.output.isFull ? undefined : this.input.first;
  }

  private changed(signal: AbortSignal, limitMs = Infinity): Promise<void> {
    const { clock } = this.options;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = limitMs === Infinity ? null : clock.setTimer(limitMs, () => wake());
      const { input, output } = this;
      const cancels = [input.onceChanged(() => wake()), output.onceChanged(() => wake())];
      const wake = () => {
        if (timer) clock.clearTimer(timer);
        for (const cancel of cancels) cancel();
        signal.removeEventListener("abort", wake);
        resolve();
      };
      signal.addEventListener("abort", wake, { once: true });
    });
  }

  private note({ bytes = 0, ended = 0 }: { readonly bytes?: number; readonly ended?: number }): void {
    const { effect } = this.toxic;
    if (!this.hasActed) effect.connections += 1;
    this.hasActed = true;
    effect.bytes += bytes;
    effect.ended += ended;
  }
}
