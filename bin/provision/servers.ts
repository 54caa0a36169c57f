import { mkdirSync } from "node:fs";
import path from "node:path";
import type { ServiceId } from "../../lib/locks/types";
import type { ProcessSpec } from "../supervisor/owned-process";
import type { InstancePaths } from "../supervisor/paths";
import { MissingError, type StepList } from "../supervisor/steps";
import { etcd } from "./etcd";
import { memcached } from "./memcached";
import { describePort, type PortName, type PortPlan } from "./ports";
import { postgres } from "./postgres";
import { redis } from "./redis";
import { redlock } from "./redlock";
import type { FoundServer, ServerKind } from "./server-kind";
import { findInstaller, installAdvice, installDebianPackages, isDebian } from "./system-packages";
import { zookeeper } from "./zookeeper";

export const SERVER_KINDS: readonly ServerKind[] = [postgres, redis, redlock, zookeeper, memcached, etcd];

export interface Provisioned {
  /** DATABASE_URL and the like, for the servers that are there, and which of them are the lab's own to empty. */
  readonly env: Record<string, string>;
  /** Why the others are not, and the fix, by service. */
  readonly missing: Partial<Record<ServiceId, string>>;
}

export interface ProvisionOptions {
  readonly paths: InstancePaths;
  readonly ports: PortPlan;
  readonly steps: StepList;
  readonly given: Readonly<Record<string, string | undefined>>;
  readonly start: (spec: ProcessSpec) => Promise<void>;
}

/** Brings up what every strategy needs, from what is given or on this machine. All at once; each server is a step. */
export async function provisionServers(options: ProvisionOptions): Promise<Provisioned> {
  const local = SERVER_KINDS.filter((kind) => !options.given[kind.envName]);
  const installFailure = await installMissing(local, options.steps);
  const urls: Partial<Record<ServiceId, string>> = {};
  const missing: Partial<Record<ServiceId, string>> = {};
  const outcomes = await Promise.allSettled(
    SERVER_KINDS.map(async (kind) => {
      let why = "";
      const ready = await options.steps.run(kind.title, async () => {
        try {
          return await provision(kind, { options, installFailure });
        } catch (error) {
          const failure = error instanceof MissingError ? error : asMissing(kind, { error, options });
          why = failure.message;
          if (kind.service === "postgres")
            throw new Error(`nothing works without PostgreSQL: ${why}`, { cause: error });
          throw failure;
        }
      });
      if (ready) urls[kind.service] = ready.url;
      else missing[kind.service] = why;
    }),
  );
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  const env: Record<string, string> = {};
  for (const { service, envName } of SERVER_KINDS) {
    const url = urls[service];
    if (url !== undefined) env[envName] = url;
  }
  const started = local.filter(({ service }) => urls[service] !== undefined).map(({ service }) => service);
  env.FAULTS_MAY_EMPTY = [...started, options.given.FAULTS_MAY_EMPTY ?? []].flat().join(",");
  return { env, missing };
}

/** A server that is there but does not start or answer disables its strategies, like one that is not there. */
function asMissing(kind: ServerKind, failed: { error: unknown; options: ProvisionOptions }): MissingError {
  const reason = failed.error instanceof Error ? failed.error.message : String(failed.error);
  const given = failed.options.given[kind.envName];
  const fix = given
    ? `start that server, or unset ${kind.envName} to let the lab start one`
    : `see ${path.relative(process.cwd(), failed.options.paths.logsDir)}`;
  return new MissingError({ reason: given ? `${kind.envName} is set, but ${reason}` : reason, fix });
}

async function provision(
  kind: ServerKind,
  { options, installFailure }: { options: ProvisionOptions; installFailure: string | null },
): Promise<{ url: string; detail: string }> {
  const given = options.given[kind.envName];
  if (given) return { url: given, detail: `${await kind.probe(given)}, given by ${kind.envName}` };
  const found = await kind.find();
  if (!found) {
    const advice = installAdvice(kind.packages);
    throw new MissingError({ reason: installFailure ?? "not installed", fix: `fix: ${advice}` });
  }
  const { paths, ports } = options;
  const dataDir = path.join(paths.dataDir, kind.service);
  mkdirSync(dataDir, { recursive: true });
  const port = (name: PortName) => ports[name];
  const url = await kind.start({ dataDir, logsDir: paths.logsDir, port, start: options.start }, found);
  return { url, detail: describeStarted(kind, { found, ports }) };
}

function describeStarted(kind: ServerKind, started: { found: FoundServer; ports: PortPlan }): string {
  const { version, origin } = started.found;
  const where =
    kind.ports.length > 2 ? describeRange(kind, started.ports) : describePort(started.ports[firstPort(kind)]);
  return `${version}${origin ? ` (${origin})` : ""}, started on ${where}`;
}

function firstPort(kind: ServerKind): PortName {
  const [name] = kind.ports;
  if (!name) throw new Error(`${kind.service} declares no port`);
  return name;
}

function describeRange(kind: ServerKind, ports: PortPlan): string {
  const numbers = kind.ports.map((name) => ports[name].port);
  const busy = kind.ports.map((name) => ports[name].busy).filter((port) => port !== null);
  return `127.0.0.1:${numbers.join(",")}${busy.length > 0 ? ` (${busy.join(",")} busy)` : ""}`;
}

/** @returns why nothing could be installed, or null when nothing was missing or all of it was installed */
async function installMissing(kinds: readonly ServerKind[], steps: StepList): Promise<string | null> {
  const found = await Promise.all(kinds.map(async (kind) => ({ kind, isThere: (await kind.find()) !== null })));
  const packages = [...new Set(found.filter(({ isThere }) => !isThere).flatMap(({ kind }) => kind.packages.debian))];
  if (packages.length === 0) return null;
  const installer = await findInstaller();
  if (installer.kind === "none") return `not installed (${installer.reason})`;
  if (!isDebian()) return "not installed";
  let failure: string | null = null;
  await steps.run("system packages", async () => {
    try {
      await installDebianPackages(installer, packages);
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
      throw new MissingError({ reason: failure, fix: `fix: apt-get install ${packages.join(" ")}` });
    }
    return { detail: `installed ${packages.join(", ")}` };
  });
  return failure;
}
