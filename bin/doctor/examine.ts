import { existsSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { serverKinds } from "../../servers/all-servers";
import { loadProvisioner } from "../../servers/provisioning";
import { whyNoMovableClock } from "../../servers/redlock/movable-clock";
import type { ServerKind } from "../../servers/server-kind";
import { hashOfInputs } from "../build/build";
import { describeK6, findK6 } from "../k6/find";
import { defaultPort, isPortFree, PORT_NAMES, wantedPort } from "../provision/ports";
import { findInstaller, type Installer, installAdvice, isDebian } from "../provision/system-packages";
import { clientIsCurrent, packagesAreCurrent } from "../shared/ensure-packages.mjs";
import { DEFAULT_INSTANCE, downCommand, instancePaths, ROOT, upCommand } from "../supervisor/paths";
import {
  endedProcesses,
  type LabState,
  type RecordedProcess,
  readLiveState,
  readState,
  unsupervisedProcesses,
} from "../supervisor/state";
import { currentCommit } from "../supervisor/version";
import { findBrowser } from "../testing/browser";

/** Reports what `npm start` and `npm test` need, without changing anything. */

export interface Finding {
  readonly name: string;
  /** `broken`: the lab cannot start. `missing`: the lab starts without it. `note`: information. */
  readonly status: "ok" | "note" | "missing" | "broken";
  readonly detail: string;
  readonly fix?: string;
}

const ENOUGH_MEMORY_MB = 2_048;

export async function examine(): Promise<Finding[]> {
  const installer = await findInstaller();
  const servers = await Promise.all(serverKinds.map((kind) => examineServer(kind, installer)));
  return [
    ...(await examineMachine()),
    ...servers,
    ...(await Promise.all([examinePorts(), examineK6(), examineBrowser(installer)])),
    examineCompiler(),
    examineBuild(),
    examineLab(),
  ];
}

function examineCompiler(): Finding {
  const name = "C compiler";
  const reason = whyNoMovableClock();
  if (reason === null) return { name, status: "ok", detail: "for the fault clock-jump" };
  return { name, status: "missing", detail: "the fault clock-jump is not available", fix: reason };
}

async function examineMachine(): Promise<Finding[]> {
  const memoryMb = Math.round(os.totalmem() / 1024 / 1024);
  const hasMemory = memoryMb >= ENOUGH_MEMORY_MB;
  const isReady = packagesAreCurrent(ROOT) && clientIsCurrent(ROOT);
  return [
    { name: "Node.js", status: "ok", detail: `${process.version} (required: 20.9 or newer)` },
    {
      name: "machine",
      status: hasMemory ? "ok" : "note",
      detail: `${os.availableParallelism()} processors, ${memoryMb} MB, ${process.platform} on ${process.arch}`,
      ...(hasMemory ? {} : { fix: `with less than ${ENOUGH_MEMORY_MB} MB, measurements vary more` }),
    },
    { name: "checkout", status: "ok", detail: `${ROOT} at commit ${await currentCommit()}` },
    {
      name: "packages",
      status: isReady ? "ok" : "note",
      detail: isReady ? "installed, Prisma client generated" : "npm start will install them",
    },
  ];
}

async function examineServer(kind: ServerKind, installer: Installer): Promise<Finding> {
  const given = process.env[kind.variable];
  if (given) return examineGiven(kind, given);
  const name = kind.label;
  const found = await (await loadProvisioner(kind.id)).find();
  if (found) {
    const origin = found.origin ? ` (${found.origin})` : "";
    return { name, status: "ok", detail: `${found.version}${origin}, ${found.binary}` };
  }
  if (installer.kind === "apt" && isDebian()) {
    return { name, status: "note", detail: `not installed; npm start installs ${kind.packages.debian.join(", ")}` };
  }
  const why = installer.kind === "none" ? `, and npm start cannot install it: ${installer.reason}` : "";
  return {
    name,
    status: kind.isRequired ? "broken" : "missing",
    detail: `not installed${why}; its strategies are unavailable`,
    fix: `${installAdvice(kind.packages)}, or set ${kind.variable}`,
  };
}

async function examineGiven(kind: ServerKind, given: string): Promise<Finding> {
  const name = kind.label;
  try {
    return {
      name,
      status: "ok",
      detail: `${await (await loadProvisioner(kind.id)).probe(given)}, given by ${kind.variable}`,
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      name,
      status: kind.isRequired ? "broken" : "missing",
      detail: `${kind.variable} is set, but ${reason}`,
      fix: `start that server, or unset ${kind.variable}`,
    };
  }
}

async function examinePorts(): Promise<Finding> {
  const name = "ports";
  const live = readLiveState(instancePaths(DEFAULT_INSTANCE));
  if (live) return { name, status: "ok", detail: "in use by the running lab" };
  const wanted = PORT_NAMES.map((port) => ({ port, number: wantedPort(port, { env: process.env }) }));
  const states = await Promise.all(wanted.map(async (one) => ({ ...one, isFree: await isPortFree(one.number) })));
  const busy = states.filter(({ isFree }) => !isFree);
  if (busy.length === 0) {
    return {
      name,
      status: "ok",
      detail: `all ${states.length} are free; the dashboard uses ${defaultPort("dashboard")}`,
    };
  }
  const list = busy.map(({ port, number }) => `${number} (${port})`).join(", ");
  return { name, status: "note", detail: `busy: ${list}`, fix: "none needed: the lab uses the next free port" };
}

async function examineK6(): Promise<Finding> {
  const name = "k6";
  try {
    const k6 = await findK6();
    if (k6) return { name, status: "ok", detail: describeK6(k6) };
    return { name, status: "missing", detail: "not installed; the built-in load generator is used", fix: "npm run k6" };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { name, status: "missing", detail, fix: "correct K6_BINARY, or unset it" };
  }
}

async function examineBrowser(installer: Installer): Promise<Finding> {
  const name = "Chromium (tests)";
  const browser = await findBrowser();
  if (browser) return { name, status: "ok", detail: `${browser.version}, ${browser.binary}` };
  if (installer.kind === "apt") return { name, status: "note", detail: "not installed; npm test installs it" };
  return {
    name,
    status: "missing",
    detail: "not installed; the browser tests will fail",
    fix: "install chromium, or set CHROMIUM_PATH",
  };
}

function examineBuild(): Finding {
  const stamp = path.join(ROOT, ".next", "lab-build-hash");
  const isCurrent = existsSync(stamp) && readFileSync(stamp, "utf8") === hashOfInputs(ROOT);
  return {
    name: "build",
    status: isCurrent ? "ok" : "note",
    detail: isCurrent ? "up to date" : "missing or out of date; npm start builds it (about half a minute)",
  };
}

function examineLab(): Finding {
  const paths = instancePaths(DEFAULT_INSTANCE);
  const live = readLiveState(paths);
  return findingOfLab(live, live ? [] : unsupervisedProcesses(readState(paths)));
}

/** @param unsupervised processes that still run although their supervisor was killed */
export function findingOfLab(live: LabState | null, unsupervised: readonly RecordedProcess[]): Finding {
  const name = "lab";
  const fix = `${upCommand(DEFAULT_INSTANCE)}, or ${downCommand(DEFAULT_INSTANCE)} to stop it`;
  if (!live) {
    if (unsupervised.length === 0) return { name, status: "ok", detail: "down" };
    const names = unsupervised.map((process) => process.name).join(", ");
    return { name, status: "missing", detail: `its supervisor was killed, and nothing restarts ${names}`, fix };
  }
  const detail = `${live.status}, ${live.dashboardUrl ?? "servers only"}`;
  const reasons = [
    ...live.failed.map(({ reason, logFile }) => `${reason} Log: ${logFile}`),
    ...endedProcesses(live).map(({ name: ended, logFile }) => `${ended} is not running. Log: ${logFile}`),
  ];
  if (reasons.length === 0) return { name, status: "ok", detail };
  return { name, status: "missing", detail: `${detail}. ${reasons.join(" ")}`, fix };
}
