import { findExecutable } from "../provision/commands";
import { findInstaller, installDebianPackages, isDebian } from "../provision/system-packages";

/** The other projects' clients that the interop tests set beside ours. Add one here, and `npm test` gets it. */
interface OtherClient {
  readonly name: string;
  readonly debian: string;
  readonly isThere: () => Promise<boolean>;
}

const OTHER_CLIENTS: readonly OtherClient[] = [
  { name: "etcdctl", debian: "etcd-client", isThere: async () => findExecutable("etcdctl") !== null },
];

/** @throws Error with the fix, when some are missing and may not be installed */
export async function ensureOtherClients(): Promise<void> {
  const missing = await missingClients();
  if (missing.length === 0) return;
  const packages = missing.map(({ debian }) => debian);
  const fix = `fix: apt-get install ${packages.join(" ")}`;
  const installer = await findInstaller();
  if (installer.kind === "none" || !isDebian()) {
    throw new Error(`the interop tests need ${missing.map(({ name }) => name).join(", ")}; ${fix}`);
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
