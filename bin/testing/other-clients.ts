import { findExecutable } from "../../servers/commands";
import { findInstaller, installDebianPackages, isDebian } from "../provision/system-packages";
import { findCurator, findJavaWithCompiler, findPythonWithLocks } from "./lock-programs";

/** The other projects' clients that the interop tests set beside ours. Add one here, and `npm test` gets it. */
interface OtherClient {
  readonly name: string;
  readonly debian: readonly string[];
  /** What says where it is, where that is not the PATH. */
  readonly variable?: string;
  readonly isThere: () => Promise<boolean>;
}

const OTHER_CLIENTS: readonly OtherClient[] = [
  { name: "etcdctl", debian: ["etcd-client"], isThere: async () => findExecutable("etcdctl") !== null },
  {
    name: "a Python with redis-py and kazoo",
    debian: ["python3-redis", "python3-kazoo"],
    variable: "INTEROP_PYTHON",
    isThere: async () => (await findPythonWithLocks()) !== null,
  },
  {
    name: "Curator's jars",
    debian: ["libcurator-recipes-java"],
    variable: "CURATOR_CLASSPATH",
    isThere: async () => findCurator() !== null,
  },
  {
    name: "a Java with its compiler",
    debian: ["default-jdk-headless"],
    variable: "JAVA_HOME",
    isThere: async () => (await findJavaWithCompiler()) !== null,
  },
];

/** @throws Error with the fix, when some are missing and may not be installed */
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
    throw new Error(`the interop tests need ${names}, and nothing can be installed (${why}); ${fix}`);
  }
  await installDebianPackages(installer, packages);
  const still = await missingClients();
  if (still.length > 0)
    throw new Error(`installed, but not there: ${still.map(({ name }) => name).join(", ")}; ${fix}`);
}

async function missingClients(): Promise<OtherClient[]> {
  const checked = await Promise.all(OTHER_CLIENTS.map(async (client) => ({ client, isThere: await client.isThere() })));
  return checked.filter(({ isThere }) => !isThere).map(({ client }) => client);
}
