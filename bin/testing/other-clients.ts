import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { findExecutable, runCommand } from "../provision/commands";
import { findInstaller, installDebianPackages, isDebian } from "../provision/system-packages";

/**
 * The other projects' clients that the interop tests hold locks with: redis-py and kazoo in a Python, Curator's jars and a
 * Java that can run a source file. From what is given, else the machine's, else the system's packages.
 */
export interface OtherClients {
  readonly python: string;
  readonly java: string;
  /** Curator and what it needs. */
  readonly classPath: string;
  /** One line a client, for the log. */
  readonly versions: readonly string[];
}

interface Found {
  readonly python: { readonly binary: string; readonly versions: string } | null;
  readonly java: string | null;
  readonly curator: { readonly classPath: string; readonly version: string } | null;
}

const PYTHON_PACKAGES = ["python3-redis", "python3-kazoo"];
const CURATOR_PACKAGES = ["libcurator-recipes-java"];
/** A runtime alone cannot run a source file. */
const JAVA_PACKAGES = ["default-jdk-headless"];

const IMPORTS = [
  "import platform, redis, kazoo.version",
  'print(f"redis-py {redis.__version__}, kazoo {kazoo.version.__version__}, Python {platform.python_version()}")',
].join("\n");

const DEBIAN_JARS = "/usr/share/java";
/** Debian's jars name what they need themselves, save for these. */
const JARS = ["curator-recipes", "curator-framework", "curator-client", "zookeeper", "guava", "slf4j-simple"];

/** @throws Error with the fix, when one is missing and may not be installed */
export async function ensureOtherClients(): Promise<OtherClients> {
  const found = await find();
  const complete = asComplete(found);
  if (complete) return complete;
  const packages = missingPackages(found);
  const fix =
    `fix: apt-get install ${packages.join(" ")}, or set INTEROP_PYTHON to a Python with redis and kazoo, ` +
    "CURATOR_CLASSPATH to Curator's jars, and JAVA_HOME to a JDK";
  const installer = await findInstaller();
  if (installer.kind === "none" || !isDebian()) {
    const why = installer.kind === "none" ? installer.reason : "not Debian";
    throw new Error(`other lock clients are missing, and cannot be installed (${why}); ${fix}`);
  }
  await installDebianPackages(installer, packages);
  const installed = asComplete(await find());
  if (!installed) throw new Error(`apt-get installed ${packages.join(" ")}, yet clients are missing; ${fix}`);
  return installed;
}

async function find(): Promise<Found> {
  const [python, java] = await Promise.all([findPython(), findJava()]);
  return { python, java, curator: findCurator() };
}

function asComplete({ python, java, curator }: Found): OtherClients | null {
  if (!python || !java || !curator) return null;
  const versions = [python.versions, `Curator ${curator.version}`];
  return { python: python.binary, java, classPath: curator.classPath, versions };
}

function missingPackages({ python, java, curator }: Found): string[] {
  return [...(python ? [] : PYTHON_PACKAGES), ...(curator ? [] : CURATOR_PACKAGES), ...(java ? [] : JAVA_PACKAGES)];
}

/** The system's own Python first: it is the one the packages are for, whatever stands before it on the PATH. */
async function findPython(): Promise<Found["python"]> {
  const given = process.env.INTEROP_PYTHON;
  const candidates = given ? [given] : ["/usr/bin/python3", findExecutable("python3")];
  for (const binary of candidates) {
    if (binary === null || (!given && !existsSync(binary))) continue;
    const { code, stdout } = await runCommand(binary, ["-c", IMPORTS], { timeoutMs: 20_000 });
    if (code === 0) return { binary, versions: stdout.trim() };
  }
  return null;
}

/** A Java with its compiler. */
async function findJava(): Promise<string | null> {
  const home = process.env.JAVA_HOME;
  const binary = home ? path.join(home, "bin", "java") : findExecutable("java");
  if (binary === null || !existsSync(binary)) return null;
  const { stdout } = await runCommand(binary, ["--list-modules"], { timeoutMs: 20_000 });
  return /^jdk\.compiler@/m.test(stdout) ? binary : null;
}

function findCurator(): Found["curator"] {
  const given = process.env.CURATOR_CLASSPATH;
  if (given) return { classPath: given, version: "of CURATOR_CLASSPATH" };
  const jars = JARS.map((name) => path.join(DEBIAN_JARS, `${name}.jar`));
  if (!jars.every((jar) => existsSync(jar))) return null;
  // Debian keeps the jar beside a link that names its version.
  const names = readdirSync(DEBIAN_JARS).map((name) => /^curator-recipes-(\d[\d.]*)\.jar$/.exec(name)?.[1]);
  return { classPath: jars.join(path.delimiter), version: names.find((name) => name) ?? "unknown version" };
}
