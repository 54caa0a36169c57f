import { findExecutable } from "../../servers/commands";
import { findInstaller, installDebianPackages, isDebian } from "../provision/system-packages";
import { findCurator, findJavaWithCompiler, findPythonWithLocks } from "./lock-programs";

/** Clients of other projects that the interop tests run. `npm test` installs each entry if it is missing. */
interface OtherClient {
  readonly name: string;
  readonly debian: readonly string[];
  /** The variable that names its location. */
  readonly variable?: string;
  readonly isInstalled: () => Promise<boolean>;
}

const OTHER_CLIENTS: readonly OtherClient[] = [
  { name: "etcdctl", debian: ["etcd-client"], isInstalled: async () => findExecutable("etcdctl") !== null },
  {
    name: "a Python with redis-py and kazoo",
    debian: ["python3-redis", "python3-kazoo"],
    variable: "INTEROP_PYTHON",
    isInstalled: async () => (await findPythonWithLocks()) !== null,
  },
  {
    name: "Curator's jars",
    debian: ["libcurator-recipes-java"],
    variable: "CURATOR_CLASSPATH",
    isInstalled: async () => findCurator() !== null,
  },
  {
    name: "a Java with its compiler",
    debian: ["default-jdk-headless"],
    variable: "JAVA_HOME",
    isInstalled: async () => (await findJavaWithCompiler()) !== null,
  },
];

/** @throws Error with the fix, if clients are missing and cannot be installed */
export async function ensureOtherClients(): Promise<void> {
  const missing = await missingClients();
  if (missing.length === 0) return;
  const packages = missing.flatMap(({ debian }) => debian);
  const variables = missing.flatMap(({ variable }) => variable ?? []);
  const fix = `fix: apt-get install ${packages.join(" ")}${variables.length > 0 ? `, or set ${variables.join(", ")}` : ""}`;
  const installer = await findInstaller();
  if (installer.kind === "none" || !isDebian()) {
    const why = installer.kind === "none" ? installer.reason : "not Debian";
    const names = missing.map(({ name }) => name).join(", ");
    throw new Error(`The interop tests need ${names}, which cannot be installed here (${why}); ${fix}`);
  }
  await installDebianPackages(installer, packages);
  const still = await missingClients();
  if (still.length > 0)
    throw new Error(
      `apt-get succeeded, but these are still missing: ${still.map(({ name }) => name).join(", ")}; ${fix}`,
    );
}

async function missingClients(): Promise<OtherClient[]> {
  const checked = await Promise.all(
    OTHER_CLIENTS.map(async (client) => ({ client, isInstalled: await client.isInstalled() })),
  );
  return checked.filter(({ isInstalled }) => !isInstalled).map(({ client }) => client);
}
