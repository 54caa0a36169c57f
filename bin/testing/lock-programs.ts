import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { findExecutable, runCommand } from "../../servers/commands";

/**
 * Programs that run other projects' locks in the interop tests: Python with redis-py and kazoo, Java that can run a source
 * file, and Curator's jars. Environment variables take precedence over what is installed.
 */

export interface FoundProgram {
  readonly binary: string;
  /** For the log. */
  readonly versions: string;
}

const IMPORTS = [
  "import platform, redis, kazoo.version",
  'print(f"redis-py {redis.__version__}, kazoo {kazoo.version.__version__}, Python {platform.python_version()}")',
].join("\n");

/** Tries the system's Python before the PATH, because the system packages install for it. */
export async function findPythonWithLocks(): Promise<FoundProgram | null> {
  const given = process.env.INTEROP_PYTHON;
  const candidates = given ? [given] : ["/usr/bin/python3", findExecutable("python3")];
  for (const binary of candidates) {
    if (binary === null || !existsSync(binary)) continue;
    const { code, stdout } = await runCommand(binary, ["-c", IMPORTS], { timeoutMs: 20_000 });
    if (code === 0) return { binary, versions: stdout.trim() };
  }
  return null;
}

/** A Java runtime without the compiler cannot run a source file. */
export async function findJavaWithCompiler(): Promise<FoundProgram | null> {
  const home = process.env.JAVA_HOME;
  const binary = home ? path.join(home, "bin", "java") : findExecutable("java");
  if (binary === null || !existsSync(binary)) return null;
  const { stdout } = await runCommand(binary, ["--list-modules"], { timeoutMs: 20_000 });
  const version = /^jdk\.compiler@(\S+)/m.exec(stdout)?.[1];
  return version === undefined ? null : { binary, versions: `Java ${version}` };
}

export interface FoundJars {
  readonly classPath: string;
  readonly versions: string;
}

const DEBIAN_JARS = "/usr/share/java";
/** The jars that the manifests of Debian's other jars do not pull in. */
const JARS = ["curator-recipes", "curator-framework", "curator-client", "zookeeper", "guava", "slf4j-simple"];

export function findCurator(): FoundJars | null {
  const given = process.env.CURATOR_CLASSPATH;
  if (given) return { classPath: given, versions: "Curator of CURATOR_CLASSPATH" };
  const jars = JARS.map((name) => path.join(DEBIAN_JARS, `${name}.jar`));
  if (!jars.every((jar) => existsSync(jar))) return null;
  // Debian installs a link whose name contains the version.
  const links = readdirSync(DEBIAN_JARS).map((name) => /^curator-recipes-(\d[\d.]*)\.jar$/.exec(name)?.[1]);
  const version = links.find((found) => found !== undefined) ?? "of unknown version";
  return { classPath: jars.join(path.delimiter), versions: `Curator ${version}` };
}
