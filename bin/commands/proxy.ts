import { once } from "node:events";
import type { Command } from "commander";
import { API_VERSION, serveToxiproxyApi } from "../../lib/faults/proxy/http-api";
import { systemClock } from "../../lib/locks/clock";
import { systemRandom } from "../../lib/locks/random";
import { wholeNumber } from "../runs/options";
import { print } from "../shared/terminal";

/** Toxiproxy's default. */
const DEFAULT_PORT = 8_474;

/** `npm run lab -- proxy`: the lab's TCP proxy on its own, for any client of Toxiproxy. */
export function addProxyCommand(program: Command): void {
  program
    .command("proxy")
    .description(`serve the HTTP API of Toxiproxy ${API_VERSION} on this machine, until interrupted`)
    .option("--port <port>", "the port of the API (0: any free one)", wholeNumber(0, 65_535), DEFAULT_PORT)
    .action(async (flags: { readonly port: number }) => {
      const stopped = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
      await using api = await serveToxiproxyApi(
        { host: "127.0.0.1", port: flags.port },
        { clock: systemClock, random: systemRandom },
      );
      print(`The proxy's API is at http://127.0.0.1:${api.port}. Ctrl+C stops it and closes its connections.`);
      await stopped;
    });
}
