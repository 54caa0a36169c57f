import { z } from "zod";
import { toxicKinds } from "./all-toxics";
import type { TcpProxy, ToxicSettings } from "./tcp-proxy";
import { type Attributes, STREAMS, type Toxic, type ToxicKind } from "./toxic";
import { badRequest, ToxiproxyError } from "./toxiproxy-error";

/** Toxics and proxies as JSON, with Toxiproxy's fields. Fields that are not known are ignored, as there. */

export const proxyInput = z.object({
  name: z.string().default(""),
  listen: z.string().default("127.0.0.1:0"),
  upstream: z.string().default(""),
  enabled: z.boolean().default(true),
});
export const proxyListInput = z.array(proxyInput);
export const proxyPatch = z.object({ listen: z.string(), upstream: z.string(), enabled: z.boolean() }).partial();

const toxicPatch = z.object({ toxicity: z.number(), attributes: z.record(z.string(), z.unknown()) }).partial();
const toxicInput = toxicPatch.extend({
  name: z.string().default(""),
  type: z.string().default(""),
  stream: z.string().default("downstream"),
});

/** @throws ToxiproxyError `bad request body` */
export function parsed<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw badRequest(`${issue?.path.join(".")}: ${issue?.message}`);
}

/** @throws ToxiproxyError */
export function newToxicOf(body: unknown, proxy: TcpProxy): ToxicSettings {
  const { name, type, stream: wanted, toxicity = 1, attributes = {} } = parsed(toxicInput, body);
  const stream = STREAMS.find((known) => known === wanted);
  if (!stream) throw new ToxiproxyError(400, "stream was invalid, can be either upstream or downstream");
  const kind = toxicKinds.get(type);
  if (!kind) throw new ToxiproxyError(400, "invalid toxic type");
  const named = name || `${type}_${stream}`;
  if (proxy.toxic(named)) throw new ToxiproxyError(409, "toxic already exists");
  return { name: named, kind, stream, toxicity, attributes: attributesOf(kind, attributes, kind.defaults) };
}

/** @throws ToxiproxyError */
export function changedToxicOf(body: unknown, toxic: Toxic): Pick<ToxicSettings, "toxicity" | "attributes"> {
  const { toxicity = toxic.toxicity, attributes = {} } = parsed(toxicPatch, body);
  return { toxicity, attributes: attributesOf(toxic.kind, attributes, toxic.attributes) };
}

function attributesOf(
  { defaults }: Pick<ToxicKind, "defaults">,
  given: Readonly<Record<string, unknown>>,
  before: Attributes,
): Attributes {
  const known = Object.entries(given).filter(([name]) => name in defaults);
  for (const [name, value] of known) {
    if (!Number.isSafeInteger(value)) throw badRequest(`attributes.${name}: must be an integer`);
  }
  return { ...before, ...(Object.fromEntries(known) as Attributes) };
}

export function toxicJson({ attributes, name, kind, stream, toxicity }: Toxic) {
  return { attributes, name, type: kind.type, stream, toxicity };
}

export function proxyJson({ name, listen, upstream, enabled, toxics }: TcpProxy) {
  return { name, listen, upstream, enabled, toxics: toxics.map(toxicJson) };
}
