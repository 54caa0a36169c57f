import { mkdirSync } from "node:fs";
import path from "node:path";
import { serverKinds } from "../../servers/all-servers";
import { type FoundServer, loadProvisioner, type ProcessSpec, type Provisioner } from "../../servers/provisioning";
import type { ServerKind } from "../../servers/server-kind";
import type { InstancePaths } from "../supervisor/paths";
import { MissingError, type StepList } from "../supervisor/steps";
import { describePort, type PlannedPort, type PortPlan } from "./ports";
import { findInstaller, installAdvice, installDebianPackages, isDebian } from "./system-packages";

export interface Provisioned {
  /** DATABASE_URL and the like of the available servers, and FAULTS_MAY_EMPTY for those that the lab started. */
  readonly env: Record<string, string>;
  /** Why the others are unavailable, and the fix, by server kind. */
  readonly missing: Record<string, string>;
}

export interface ProvisionOptions {
  readonly paths: InstancePaths;
  readonly ports: PortPlan;
  readonly steps: StepList;
  /** The variables that configure the user's own servers. */
  readonly given: Readonly<Record<string, string | undefined>>;
  readonly start: (spec: ProcessSpec) => Promise<void>;
}

/** A server kind with the code that finds and starts one on this machine. */
interface Candidate {
  readonly kind: ServerKind;
  readonly provisioner: Provisioner;
}

/** Makes every server kind available, from the user's own servers or from this machine. All in parallel, one step each. */
export async function provisionServers(options: ProvisionOptions): Promise<Provisioned> {
  const candidates = await Promise.all(
    serverKinds.map(async (kind) => ({ kind, provisioner: await loadProvisioner(kind.id) })),
  );
  const local = candidates.filter(({ kind }) => !options.given[kind.variable]);
  const installFailure = await installMissing(local, options.steps);
  const addresses = new Map<ServerKind, string>();
  const missing: Record<string, string> = {};
  const outcomes = await Promise.allSettled(
    candidates.map(async (candidate) => {
      const { kind } = candidate;
      let reason = "";
      const ready = await options.steps.run(kind.label, async () => {
        try {
          return await provision(candidate, { options, installFailure });
        } catch (error) {
          const failure = error instanceof MissingError ? error : asMissing(kind, { error, options });
          reason = failure.message;
          if (kind.isRequired) throw new Error(`the lab cannot run without ${kind.label}: ${reason}`, { cause: error });
          throw failure;
        }
      });
      if (ready) addresses.set(kind, ready.address);
      else missing[kind.id] = reason;
    }),
  );
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  const env: Record<string, string> = {};
  for (const kind of serverKinds) {
    const address = addresses.get(kind);
    if (address !== undefined) env[kind.variable] = address;
  }
  const started = local.filter(({ kind }) => addresses.has(kind)).map(({ kind }) => kind.id);
  env.FAULTS_MAY_EMPTY = [...started, options.given.FAULTS_MAY_EMPTY ?? []].flat().join(",");
  return { env, missing };
}

/** A server that does not start or answer disables its strategies, as one that is not installed does. */
function asMissing(kind: ServerKind, failed: { error: unknown; options: ProvisionOptions }): MissingError {
  const reason = failed.error instanceof Error ? failed.error.message : String(failed.error);
  const given = failed.options.given[kind.variable];
  const fix = given
    ? `start that server, or unset ${kind.variable} to let the lab start one`
    : `see ${path.relative(process.cwd(), failed.options.paths.logsDir)}`;
  return new MissingError({ reason: given ? `${kind.variable} is set, but ${reason}` : reason, fix });
}

async function provision(
  { kind, provisioner }: Candidate,
  { options, installFailure }: { options: ProvisionOptions; installFailure: string | null },
): Promise<{ address: string; detail: string }> {
  const given = options.given[kind.variable];
  if (given) return { address: given, detail: `${await provisioner.probe(given)}, given by ${kind.variable}` };
  const found = await provisioner.find();
  if (!found) {
    const advice = installAdvice(kind.packages);
    throw new MissingError({ reason: installFailure ?? "not installed", fix: `fix: ${advice}` });
  }
  const { paths, ports } = options;
  const dataDir = path.join(paths.dataDir, kind.id);
  mkdirSync(dataDir, { recursive: true });
  const port = (name: string) => plannedPort(ports, name).port;
  const address = await provisioner.start({ dataDir, logsDir: paths.logsDir, port, start: options.start }, found);
  return { address, detail: describeStarted(kind, { found, ports }) };
}

function plannedPort(ports: PortPlan, name: string): PlannedPort {
  const planned = ports[name];
  if (planned) return planned;
  throw new Error(`no port is planned for "${name}"`);
}

function describeStarted(kind: ServerKind, started: { found: FoundServer; ports: PortPlan }): string {
  const { version, origin } = started.found;
  const planned = Object.keys(kind.ports).map((name) => plannedPort(started.ports, name));
  const [first] = planned;
  const where = planned.length > 2 || !first ? describeRange(planned) : describePort(first);
  return `${version}${origin ? ` (${origin})` : ""}, started on ${where}`;
}

function describeRange(planned: readonly PlannedPort[]): string {
  const numbers = planned.map(({ port }) => port);
  const busy = planned.map((one) => one.busy).filter((port) => port !== null);
  return `127.0.0.1:${numbers.join(",")}${busy.length > 0 ? ` (${busy.join(",")} busy)` : ""}`;
}

/** @returns why the missing packages could not be installed; null if none was missing or all were installed */
async function installMissing(candidates: readonly Candidate[], steps: StepList): Promise<string | null> {
  const found = await Promise.all(candidates.map(({ provisioner }) => provisioner.find()));
  const absent = candidates.filter((_, index) => found[index] === null);
  const packages = [...new Set(absent.flatMap(({ kind }) => kind.packages.debian))];
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
