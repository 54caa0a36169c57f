import { createContext, runInContext } from "node:vm";
import type { ReplayData, ReplayPlayer } from "../replay-player";

type PlayerClass = new (root: HTMLElement, data: ReplayData) => ReplayPlayer;

/** What the replay player needs of a browser page, without a browser. The player sees no other globals. */
export class FakeReplayPage {
  hash: string;
  private readonly root = new FakeElement();
  private readonly window = new EventTarget();
  private readonly parts: Readonly<Record<string, readonly FakeElement[]>>;
  private readonly callbacks = new Map<number, (now: number) => void>();
  private readonly globals: Record<string, unknown>;
  private nowMs = 0;
  private lastFrame = 0;

  constructor(
    private readonly data: ReplayData,
    { hash, isReduced }: { readonly hash: string; readonly isReduced: boolean },
  ) {
    this.hash = hash;
    const elements = (count: number) => Array.from({ length: count }, () => new FakeElement());
    const single = Object.fromEntries(
      ["play", "back", "on", "slow", "seek", "time"].map((name) => [name, elements(1)]),
    );
    this.parts = { ...single, state: elements(data.states[0]?.length ?? 0), line: elements(data.places.length) };
    this.root.querySelectorAll = (selector) => this.parts[/"(\w+)"/.exec(selector)?.[1] ?? ""] ?? [];
    const page = this;
    this.globals = createContext({
      AbortController,
      addEventListener: this.window.addEventListener.bind(this.window),
      location: {
        get hash() {
          return page.hash;
        },
      },
      history: {
        replaceState: (_state: unknown, _title: string, url: string) => {
          this.hash = url;
        },
      },
      matchMedia: () => ({ matches: isReduced }),
      performance: { now: () => this.nowMs },
      requestAnimationFrame: (callback: (now: number) => void) => {
        this.lastFrame += 1;
        this.callbacks.set(this.lastFrame, callback);
        return this.lastFrame;
      },
      cancelAnimationFrame: (frame: number) => void this.callbacks.delete(frame),
    });
  }

  run(player: PlayerClass): ReplayPlayer {
    return this.runText(`const __name = (named) => named; (${player})`);
  }

  /** Runs the text of the player's class where it sees only this page. */
  runText(text: string): ReplayPlayer {
    const found = runInContext(text, this.globals) as PlayerClass;
    return new found(this.root as unknown as HTMLElement, this.data);
  }

  /** @returns true if the player handled the key */
  key(key: string, fields: object = {}): boolean {
    const event = Object.assign(new Event("keydown", { cancelable: true }), { key, ...fields });
    return !this.root.dispatchEvent(event);
  }

  click(part: string): void {
    this.parts[part]?.[0]?.dispatchEvent(new Event("click"));
  }

  check(part: string): void {
    const [element] = this.parts[part] ?? [];
    if (element) element.checked = true;
  }

  navigate(hash: string): void {
    this.hash = hash;
    this.window.dispatchEvent(new Event("hashchange"));
  }

  /** Lets the page draw this many frames. */
  frames(count: number, everyMs: number): void {
    for (let frame = 0; frame < count; frame += 1) {
      this.nowMs += everyMs;
      const due = [...this.callbacks.values()];
      this.callbacks.clear();
      for (const callback of due) callback(this.nowMs);
    }
  }

  pendingFrames(): number {
    return this.callbacks.size;
  }

  step(): number {
    return Number(this.root.dataset.step);
  }

  /** The place of the play head. */
  at(): number {
    return Number(this.root.properties.get("--at"));
  }

  texts(part: string): string[] {
    return (this.parts[part] ?? []).map(({ textContent }) => textContent);
  }

  lines(): (string | undefined)[] {
    return (this.parts.line ?? []).map(({ dataset }) => dataset.time);
  }
}

class FakeElement extends EventTarget {
  readonly dataset: Record<string, string | undefined> = {};
  readonly properties = new Map<string, string>();
  readonly style = { setProperty: (name: string, value: string) => void this.properties.set(name, value) };
  textContent = "";
  value = "";
  checked = false;
  querySelectorAll: (selector: string) => readonly FakeElement[] = () => [];
  setAttribute(): void {}
}
