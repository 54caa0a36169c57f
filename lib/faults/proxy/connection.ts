import type { Socket } from "node:net";
import { Link } from "./link";
import type { ProxyDependencies } from "./stage";
import { STREAMS, type Stream, type Toxic } from "./toxic";

export interface ConnectionOptions extends ProxyDependencies {
  readonly client: Socket;
  readonly server: Socket;
  readonly toxics: readonly Toxic[];
  /** Called once, when both sockets are closed. */
  readonly onClose: () => void;
}

/** A client's connection and the proxy's own to the server. Each direction ends on its own, as TCP allows. */
export class Connection {
  private readonly links: Readonly<Record<Stream, Link>>;

  constructor(private readonly options: ConnectionOptions) {
    const { client, server, toxics, clock, random } = options;
    const common = { clock, random, connection: this, close: () => this.close(), reset: () => this.reset() };
    const toxicsOf = (stream: Stream) => toxics.filter((toxic) => toxic.stream === stream);
    this.links = {
      upstream: new Link({ ...common, source: client, destination: server, toxics: toxicsOf("upstream") }),
      downstream: new Link({ ...common, source: server, destination: client, toxics: toxicsOf("downstream") }),
    };
    let open = 2;
    const { onClose } = options;
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      // A broken socket breaks the other one: what it sent may be incomplete.
      socket.once("error", () => this.reset());
      socket.once("close", () => {
        open -= 1;
        if (open > 0) return;
        for (const stream of STREAMS) this.links[stream].stop();
        onClose();
      });
    }
  }

  link(stream: Stream): Link {
    return this.links[stream];
  }

  /** Closes both sockets. Data that was not sent is lost. */
  close(): void {
    for (const socket of [this.options.client, this.options.server]) socket.destroy();
  }

  private reset(): void {
    for (const socket of [this.options.client, this.options.server]) socket.resetAndDestroy();
  }
}
