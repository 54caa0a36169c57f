/** What the replay of a story shows at each of its steps. */
export interface ReplayData {
  /** The place of each step on the axis, from 0 to 1. */
  readonly places: readonly number[];
  /** Milliseconds since the run's first purchase, for the address. */
  readonly atMs: readonly number[];
  readonly times: readonly string[];
  /** The step in words, for screen readers. */
  readonly texts: readonly string[];
  /** The state of each lane. */
  readonly states: readonly (readonly string[])[];
  /** How long the replay takes at full speed. */
  readonly durationMs: number;
}

/**
 * Moves the replay inside `root`: buttons, slider, keys, and `#t=<milliseconds>` of the address. It finds its parts by their
 * `data-replay` attribute, which show the end of the story before the first move. The exported file contains this class as text, so the class uses nothing outside itself.
 */
export class ReplayPlayer {
  private readonly root: HTMLElement;
  private readonly data: ReplayData;
  private readonly ending = new AbortController();
  private place = 1;
  private frame = 0;

  constructor(root: HTMLElement, data: ReplayData) {
    this.root = root;
    this.data = data;
    const { signal } = this.ending;
    this.part("play")?.addEventListener("click", () => (this.frame === 0 ? this.play() : this.pause()), { signal });
    this.part("back")?.addEventListener("click", () => this.step("ArrowLeft"), { signal });
    this.part("on")?.addEventListener("click", () => this.step("ArrowRight"), { signal });
    this.part("seek")?.addEventListener("input", () => this.moveTo(Number(this.input("seek")?.value)), { signal });
    root.addEventListener("keydown", (event) => this.onKey(event), { signal });
    addEventListener("hashchange", () => this.open(), { signal });
    this.open();
  }

  /** Ends the timer and the listeners. */
  stop(): void {
    this.ending.abort();
    cancelAnimationFrame(this.frame);
  }

  private parts(name: string): HTMLElement[] {
    return [...this.root.querySelectorAll<HTMLElement>(`[data-replay="${name}"]`)];
  }

  private part(name: string): HTMLElement | undefined {
    return this.parts(name)[0];
  }

  private input(name: string): HTMLInputElement | undefined {
    return this.part(name) as HTMLInputElement | undefined;
  }

  private stepAt(place: number): number {
    return Math.max(0, this.data.places.filter((one) => one <= place + 1e-9).length - 1);
  }

  private show(to: number): void {
    const { places, times, texts, states } = this.data;
    this.place = Math.min(1, Math.max(0, to));
    const step = this.stepAt(this.place);
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.root.style.setProperty("--at", String(isStill ? places[step] : this.place));
    const seek = this.input("seek");
    if (seek) seek.value = String(this.place);
    if (this.root.dataset.step === String(step)) return;
    this.root.dataset.step = String(step);
    seek?.setAttribute("aria-valuetext", texts[step] ?? "");
    this.write("time", [times[step] ?? ""]);
    this.write("state", states[step] ?? []);
    for (const [index, line] of this.parts("line").entries()) {
      line.dataset.time = index < step ? "past" : index === step ? "now" : "next";
    }
  }

  private write(name: string, texts: readonly string[]): void {
    for (const [index, element] of this.parts(name).entries()) element.textContent = texts[index] ?? "";
  }

  private play(): void {
    if (this.place >= 1) this.show(0);
    this.write("play", ["Pause"]);
    let before = performance.now();
    const next = (now: number) => {
      const speed = this.input("slow")?.checked ? 0.1 : 1;
      // A hidden page gets no frames: the replay continues where it was.
      this.show(this.place + (Math.min(100, now - before) / this.data.durationMs) * speed);
      before = now;
      if (this.place >= 1) this.pause();
      else this.frame = requestAnimationFrame(next);
    };
    this.frame = requestAnimationFrame(next);
  }

  /** Also writes the time to the address. */
  private pause(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.write("play", ["Play"]);
    const { places, atMs } = this.data;
    const ms = this.between(this.place, places, atMs);
    history.replaceState(null, "", `#t=${Math.round(ms * 1e6) / 1e6}`);
  }

  private moveTo(place: number): void {
    this.show(place);
    this.pause();
  }

  private step(key: string): void {
    const { places } = this.data;
    const now = this.stepAt(this.place);
    if (key === "Home") this.moveTo(0);
    else if (key === "End") this.moveTo(1);
    else if (key === "ArrowRight" || key === "ArrowUp") this.moveTo(places[now + 1] ?? 1);
    // Between two steps, back goes to the one before.
    else this.moveTo(places[this.stepAt(this.place - 1e-6)] ?? 0);
  }

  private onKey(event: KeyboardEvent): void {
    const isOwn = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(event.key);
    if (!isOwn || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.step(event.key);
  }

  /** Moves to the time in the address. */
  private open(): void {
    const { places, atMs } = this.data;
    const ms = /^#t=(\d+(?:\.\d+)?)$/.exec(location.hash)?.[1];
    if (ms !== undefined) this.show(this.between(Number(ms) + 5e-7, atMs, places));
  }

  /** Converts a value from one ascending scale to another, linear from step to step. */
  private between(value: number, from: readonly number[], to: readonly number[]): number {
    const step = Math.max(0, from.filter((one) => one <= value).length - 1);
    const [a = 0, b = 0] = [from[step], from[step + 1] ?? from[step]];
    const share = b > a ? Math.max(0, (value - a) / (b - a)) : 0;
    const start = to[step] ?? 0;
    return start + share * ((to[step + 1] ?? start) - start);
  }
}
