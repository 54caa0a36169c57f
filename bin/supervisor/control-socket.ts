import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { type ControlReply, type ControlRequest, controlRequestSchema } from "../../lib/faults/topologies/control";
import { socketPath } from "../../lib/faults/topologies/control-client";
import type { StartedTopology, TopologyHost, WantedTopology } from "./topology-host";

type Host = Pick<TopologyHost, "start" | "stop" | "keep" | "drop">;

/** Lets processes of this user start topologies of this lab. A connection owns the topology that it started. */
export class ControlSocket {
  private readonly connections = new Map<Socket, AbortController>();

  private constructor(
    private readonly server: Server,
    private readonly host: Host,
  ) {
    server.on("connection", (socket) => void this.serve(socket));
  }

  /** @param file in a folder that only this user may write to */
  static async open(file: string, host: Host): Promise<ControlSocket> {
    // A killed supervisor leaves its file. Only one supervisor of an instance runs at a time.
    rmSync(file, { force: true });
    // The connection ends when its topology has ended, so that a client can wait for that.
    const server = createServer({ allowHalfOpen: true });
    const control = new ControlSocket(server, host);
    const mask = process.umask(0o177);
    try {
      server.listen(socketPath(file));
      await once(server, "listening");
    } finally {
      process.umask(mask);
    }
    return control;
  }

  /** Refuses new connections, and aborts starts that are in progress. */
  close(): void {
    this.server.close();
    for (const [socket, aborter] of this.connections) {
      aborter.abort(new Error("the lab is stopping"));
      socket.destroy();
    }
  }

  private async serve(socket: Socket): Promise<void> {
    const aborter = new AbortController();
    this.connections.set(socket, aborter);
    socket.on("error", () => {});
    // The client has ended: a start that is in progress has no user.
    socket.once("end", () => aborter.abort(new Error("the client ended the connection")));
    socket.once("close", () => aborter.abort(new Error("the client ended the connection")));
    const session = new Session(this.host, aborter.signal);
    try {
      for await (const line of createInterface({ input: socket })) {
        socket.write(`${JSON.stringify(await session.answer(line))}\n`);
      }
    } catch {
      // A broken connection ends like a closed one.
    } finally {
      await session.end();
      this.connections.delete(socket);
      socket.destroy();
    }
  }
}

class Session {
  private started: StartedTopology | null = null;

  constructor(
    private readonly host: Host,
    private readonly signal: AbortSignal,
  ) {}

  async answer(line: string): Promise<ControlReply> {
    try {
      return await this.obey(controlRequestSchema.parse(JSON.parse(line)));
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }

  async end(): Promise<void> {
    const { started } = this;
    this.started = null;
    // A process that does not end is in the state file, and the next start of the lab ends it.
    if (started) await this.host.stop(started.running).catch(() => {});
  }

  private async obey(request: ControlRequest): Promise<ControlReply> {
    if (request.do === "keep") return { addresses: await this.host.keep(request) };
    if (request.do === "drop") return { done: await this.host.drop(request.topology) };
    if (request.do === "start") return { addresses: await this.start(request) };
    const { running } = this.started ?? {};
    if (!running) throw new Error("this connection has started no topology");
    if (request.do === "kill") await running.kill(request.process);
    else if (request.do === "revive") await running.revive(request.process);
    else if (request.do === "pause") running.pause(request.process, request.durationMs);
    else if (request.do === "resume") running.resume(request.process);
    else if (request.do === "cut") await running.cut(request.link);
    else if (request.do === "silence") await running.silence(request.link, request.durationMs);
    else if (request.do === "restore") await running.restore(request.link);
    else await running.redirect(request.link, request.to);
    return { done: true };
  }

  private async start(wanted: WantedTopology) {
    if (this.started) throw new Error("this connection has already started a topology");
    this.started = await this.host.start(wanted, this.signal);
    return this.started.addresses;
  }
}
