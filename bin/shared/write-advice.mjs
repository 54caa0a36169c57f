// Plain JavaScript without dependencies: bootstrap.mjs needs it before any package is installed.

/**
 * What to do about a file that cannot be written.
 * @param {unknown} error
 * @returns {string | null} null for every other error
 */
export function adviseOnWrite(error) {
  if (!(error instanceof Error)) return null;
  const { code, path } = /** @type {NodeJS.ErrnoException} */ (error);
  const where = path ?? "a file of the lab";
  switch (code) {
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return `The lab cannot write ${where} (${code}). It keeps packages, builds, state, logs and data inside its folder. Copy the folder to a place that you can write to, or make yourself its owner, and run the command again.`;
    case "EEXIST":
    case "ENOTDIR":
      return `The lab cannot create the folder ${where}: a file is in its place (${code}). Move that file away and run the command again.`;
    case "ENOSPC":
    case "EDQUOT":
      return `The lab cannot write ${where}: the disk is full (${code}). Free some space and run the command again.`;
    default:
      return null;
  }
}
