export interface Address {
  readonly host: string;
  readonly port: number;
}

/** `host:port` or `[v6]:port`. An empty host is this machine. @throws Error if it has no port */
export function parseAddress(text: string): Address {
  const [, host, port] = /^(.*):(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535) throw new Error(`address ${text}: must have the form host:port`);
  return { host: host.replace(/^\[|\]$/g, "") || "127.0.0.1", port: Number(port) };
}

export function addressText({ host, port }: Address): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
