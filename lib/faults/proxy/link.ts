import { once } from "node:events";
import type { Socket } from "node:net";
import { ChunkQueue } from "./chunk-queue";
import { type ProxyDependencies, Stage } from "./stage";
import type { Toxic } from "./toxic";

export interface LinkOptions extends ProxyDependencies {
  readonly source: Socket;
  readonly destination: Socket;
  /** In the order in which they were added. */
  readonly toxics: readonly Toxic[];
  /** Identifies the connection to the toxics. */
  readonly connection: object;
  /** Ends both sockets after the data of this direction was sent. */
  readonly close: () => void;
  readonly reset: () => void;
}

/** One direction of a connection: source, toxics in their order, destination. A full queue pauses the source. */
export class Link {
  private readonly stages: Stage[] = [];
  /** What the destination gets. */
  private readonly tail = new ChunkQueue();
  private head = this.tail;
  private readonly stopped = new AbortController();

  constructor(private readonly options: LinkOptions) {
    for (const toxic of options.toxics) this.add(toxic);
    this.read();
    void this.write();
  }

  /** Puts the toxic behind all others. */
  add(toxic: Toxic): void {
    const input = new ChunkQueue(toxic.kind.bufferBytes);
    const last = this.stages.at(-1);
    if (last) last.output = input;
    else this.head = input;
    const { clock, random, connection, reset } = this.options;
    this.stages.push(new Stage({ clock, random, connection, reset, toxic, input, output: this.tail }));
  }

  update(toxic: Toxic): void {
    this.stages.find((stage) => stage.toxic === toxic)?.restart();
  }

  remove(toxic: Toxic): void {
    const index = this.stages.findIndex((stage) => stage.toxic === toxic);
    const [stage] = index < 0 ? [] : this.stages.splice(index, 1);
    if (!stage) return;
    stage.stop();
    const before = this.stages[index - 1];
    if (before) before.output = stage.output;
    else this.head = stage.output;
    if (toxic.kind.closesOnRemoval) {
      toxic.effect.ended += 1;
      // Bytes after the discarded ones must not arrive: an ended queue takes none.
      stage.output.finish("closed");
    }
    stage.input.moveTo(stage.output);
  }

  /** Ends every timer and wait. The sockets belong to the connection. */
  stop(): void {
    this.stopped.abort();
    for (const stage of this.stages) stage.stop();
  }

  private read(): void {
    const { source, clock } = this.options;
    const resume = () => {
      if (this.head.isFull) this.head.onceChanged(resume);
      else source.resume();
    };
    source.on("data", (data: Buffer) => {
      this.head.push({ data, atMs: clock.nowMs() });
      if (!this.head.isFull) return;
      source.pause();
      this.head.onceChanged(resume);
    });
    source.once("end", () => this.head.finish("half"));
    source.resume();
  }

  private async write(): Promise<void> {
    const { destination, close } = this.options;
    const { signal } = this.stopped;
    while (!signal.aborted && this.tail.end === null) {
      const { first } = this.tail;
      if (!first) await new Promise<void>((resolve) => this.whenTailChanges(resolve));
      // A destination that is destroyed during the wait stops the link, which ends the wait.
      else if (destination.writableNeedDrain) await once(destination, "drain", { signal }).catch(() => {});
      else destination.write(this.tail.take(first.data.length).data);
    }
    if (signal.aborted) return;
    if (this.tail.end === "closed") destination.end(close);
    else destination.end();
  }

  private whenTailChanges(resolve: () => void): void {
    const cancel = this.tail.onceChanged(wake);
    const { signal } = this.stopped;
    signal.addEventListener("abort", wake, { once: true });
    function wake(): void {
      cancel();
      signal.removeEventListener("abort", wake);
      resolve();
    }
  }
}
