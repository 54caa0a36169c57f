import { toxicKinds } from "../../lib/faults/proxy/all-toxics";
import { TcpProxy } from "../../lib/faults/proxy/tcp-proxy";
import { STREAMS, type Toxic } from "../../lib/faults/proxy/toxic";
import { systemClock } from "../../lib/locks/clock";
import { systemRandom } from "../../lib/locks/random";

/** A server behind a link may start to listen after another one connects, as the winner of an election does. */
const REDIAL_MS = 2_000;

/** A connection between two servers of a topology that can be broken. A silence ends by itself; a cut lasts until it is restored. */
export class TopologyLink {
  private readonly proxy: TcpProxy;
  /** Discard all data while the link is silent. */
  private silencers: Toxic[] = [];
  private silenceTimer: NodeJS.Timeout | null = null;
  /** One change after the other. */
  private changed: Promise<unknown> = Promise.resolve();

  constructor(options: { readonly name: string; readonly listen: string; readonly upstream: string }) {
    this.proxy = new TcpProxy({ ...options, redialMs: REDIAL_MS, clock: systemClock, random: systemRandom });
  }

  get port(): number {
    return this.proxy.port;
  }

  /** Accepts connections and passes their data. A silent link first closes its connections, because data of theirs is lost. */
  restore(): Promise<void> {
    return this.change(async () => {
      if (this.speak()) await this.proxy.stop();
      await this.proxy.start();
    });
  }

  /** Closes its connections, and refuses new ones. */
  cut(): Promise<void> {
    return this.change(async () => {
      this.speak();
      await this.proxy.stop();
    });
  }

  /** Keeps its connections open and discards their data, for this time or until it is restored. */
  silence(durationMs: number): Promise<void> {
    return this.change(async () => {
      this.speak();
      const kind = toxicKinds.get("timeout");
      if (!kind) throw new Error("there is no toxic timeout");
      const settings = { kind, toxicity: 1, attributes: { timeout: 0 } };
      this.silencers = STREAMS.map((stream) => this.proxy.addToxic({ ...settings, name: `silent-${stream}`, stream }));
      this.silenceTimer = setTimeout(() => void this.restore(), durationMs);
    });
  }

  /** Closes its connections, and leads new ones to another address. */
  redirect(upstream: string): Promise<void> {
    return this.change(async () => {
      this.speak();
      await this.proxy.stop();
      this.proxy.move({ listen: this.proxy.listen, upstream });
      await this.proxy.start();
    });
  }

  /** @returns whether it was silent */
  private speak(): boolean {
    if (this.silenceTimer) clearTimeout(this.silenceTimer);
    this.silenceTimer = null;
    const silencers = this.silencers.splice(0);
    for (const silencer of silencers) this.proxy.removeToxic(silencer);
    return silencers.length > 0;
  }

  private change(work: () => Promise<void>): Promise<void> {
    const changing = this.changed.then(work);
    this.changed = changing.catch(() => undefined);
    return changing;
  }
}
