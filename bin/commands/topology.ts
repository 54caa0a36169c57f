import { Argument, type Command } from "commander";
import type { ControlRequest } from "../../lib/faults/topologies/control";
import { ControlClient } from "../../lib/faults/topologies/control-client";
import { TOPOLOGY_IDS, type TopologyId } from "../../lib/faults/topologies/ids";
import { print } from "../shared/terminal";
import { DEFAULT_INSTANCE, instancePaths, upCommand } from "../supervisor/paths";
import { readLiveState } from "../supervisor/state";

interface TopologyFlags {
  readonly stop?: boolean;
  readonly instance: string;
}

/** `npm run lab -- topology sentinel`: starts a topology that lasts until `--stop` or until the lab stops. */
export function addTopologyCommand(program: Command): void {
  program
    .command("topology")
    .description("start a group of servers and print their addresses; runs with a fault start their own")
    .addArgument(new Argument("<name>", "what to start").choices(TOPOLOGY_IDS))
    .option("--stop", "stop it, and delete its data")
    .option("--instance <name>", "the lab that it belongs to", DEFAULT_INSTANCE)
    .action(async (topology: TopologyId, { stop, instance }: TopologyFlags) => {
      if (stop) print(await stopTopology(topology, instance));
      else print(await startTopology(topology, instance));
    });
}

async function startTopology(topology: TopologyId, instance: string): Promise<string> {
  const databaseUrl = readLiveState(instancePaths(instance))?.env.DATABASE_URL ?? "";
  const reply = await ask(instance, { do: "keep", topology, databaseUrl });
  if (!("addresses" in reply)) throw new Error("The supervisor returned no addresses.");
  const { servers, processes } = reply.addresses;
  const lines = Object.entries({ ...processes, ...servers }).map(
    ([name, address]) => `  ${name.padEnd(18)} ${address}`,
  );
  const own = instance === DEFAULT_INSTANCE ? "" : ` --instance ${instance}`;
  return [
    `The topology ${topology} is up:`,
    ...lines,
    `Stop it with \`npm run lab -- topology ${topology} --stop${own}\`. It also ends with the lab.`,
  ].join("\n");
}

async function stopTopology(topology: TopologyId, instance: string): Promise<string> {
  const reply = await ask(instance, { do: "drop", topology });
  const wasRunning = "done" in reply && reply.done;
  return wasRunning ? `The topology ${topology} is stopped.` : `The topology ${topology} is not running.`;
}

/** @throws Error if the lab is not running */
async function ask(instance: string, request: ControlRequest) {
  const paths = instancePaths(instance);
  if (!readLiveState(paths)) throw new Error(`The lab is not running. Start it with \`${upCommand(instance)}\`.`);
  await using supervisor = await ControlClient.open(paths.controlFile);
  return await supervisor.ask(request);
}
