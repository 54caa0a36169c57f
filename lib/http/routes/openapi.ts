import { z } from "zod";
import { errorSchema } from "./answers";
import { adminErrors, bodyErrors, commonErrors, type ErrorCode, errorCodes } from "./error-codes";
import type { Route, RouteAnswer } from "./route";
import { routes } from "./route-table";

/**
 * The OpenAPI document, made from the schemas that validate. OpenAPI 3.1 describes bodies in JSON Schema 2020-12, which
 * is what zod writes, so nothing is translated here; docs/decisions/152-the-contract-from-the-schemas.md.
 */

type Json = Readonly<Record<string, unknown>>;

export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: Json;
  readonly tags: readonly Json[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Json;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: true; readonly content: Readonly<Record<string, { schema: Json }>> };
  readonly responses: Readonly<Record<string, Json>>;
  readonly security?: readonly Json[];
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Json;
}

const TAGS: Readonly<Record<Route["tag"], string>> = {
  sale: "Purchases and claims: the hot routes.",
  shop: "What is on sale.",
  lab: "Strategies and the dashboard's session.",
  runs: "Runs, their histories and what the checkers find.",
  nodes: "What the coordinator asks of a store node.",
  operation: "For whoever watches the lab.",
};

export function openApiDocument(version: string): OpenApiDocument {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    const operations = paths[route.path] ?? {};
    paths[route.path] = operations;
    operations[route.method] = operation(route);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Flash Sale Lab",
      version,
      description: "Errors have one shape: {error: {code, message, details?}}. Every answer carries x-request-id.",
      license: { name: "MIT", identifier: "MIT" },
    },
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        adminToken: { type: "http", scheme: "bearer", description: "LAB_ADMIN_TOKEN, when the lab has one." },
        session: { type: "apiKey", in: "cookie", name: "lab_session" },
      },
    },
  };
}

/** The codes a route declares, those that every route has included. */
export function codesOf(route: Route): readonly ErrorCode[] {
  const codes = [
    ...commonErrors,
    ...(route.body ? bodyErrors : []),
    ...(route.access === "admin" ? adminErrors : []),
    ...route.errors,
  ];
  return [...new Set(codes)];
}

function operation(route: Route): Operation {
  const { method, path, summary, tag, body, access } = route;
  return {
    operationId: `${method}${path.replace(/[^a-zA-Z]+(.)?/g, (_, letter: string | undefined) => letter?.toUpperCase() ?? "")}`,
    summary,
    tags: [tag],
    parameters: parameters(route),
    ...(body ? { requestBody: { required: true, content: { "application/json": { schema: inputOf(body) } } } } : {}),
    responses: responses(route),
    // The empty one: a lab without an admin token asks for none.
    ...(access === "admin" ? { security: [{ adminToken: [] }, { session: [] }, {}] } : {}),
  };
}

function parameters({ params = {}, query, headers = {} }: Route): Parameter[] {
  const inPath = Object.entries(params).map(([name, schema]) => ({
    name,
    in: "path" as const,
    required: true,
    schema: inputOf(schema),
  }));
  const inQuery = Object.entries(query?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: "query" as const,
    required: false,
    schema: inputOf(schema as z.ZodType),
  }));
  const inHeaders = Object.entries(headers).map(([name, { schema, description }]) => ({
    name,
    in: "header" as const,
    required: false,
    description,
    schema: inputOf(schema),
  }));
  return [...inPath, ...inQuery, ...inHeaders];
}

function responses(route: Route): Record<string, Json> {
  const found: Record<string, Json> = {};
  for (const [status, answer] of Object.entries(route.answers)) found[status] = response(answer);
  const byStatus = groupByStatus(codesOf(route));
  for (const [status, codes] of byStatus) {
    const declared = found[status] as { content?: Json; description?: string } | undefined;
    const schema = errorsSchema(codes);
    if (declared === undefined) {
      found[status] = { description: codes.join(", "), content: { "application/json": { schema } } };
    } else {
      const own = (declared.content as { "application/json": { schema: Json } })["application/json"].schema;
      found[status] = { ...declared, content: { "application/json": { schema: { anyOf: [own, schema] } } } };
    }
  }
  return found;
}

function groupByStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const groups = new Map<number, ErrorCode[]>();
  for (const code of codes) groups.set(errorCodes[code], [...(groups.get(errorCodes[code]) ?? []), code]);
  return groups;
}

function response({ description, schema, contentType, headers }: RouteAnswer): Json {
  const content = schema
    ? { "application/json": { schema: outputOf(schema) } }
    : Object.fromEntries([contentType ?? "text/plain"].flat().map(anything));
  const described = Object.entries(headers ?? {}).map(([name, text]) => [
    name,
    { description: text, schema: { type: "string" } },
  ]);
  return { description, content, ...(described.length > 0 ? { headers: Object.fromEntries(described) } : {}) };
}

/** A stream or a file: what is in it is described elsewhere. */
function anything(contentType: string): [string, { schema: Json }] {
  return [contentType, { schema: contentType === "application/json" ? {} : { type: "string" } }];
}

function errorsSchema(codes: readonly ErrorCode[]): Json {
  const { shape } = errorSchema.shape.error;
  return outputOf(z.object({ error: z.object({ ...shape, code: z.enum(codes) }) }));
}

const inputOf = (schema: z.ZodType) => withoutDialect(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }));
const outputOf = (schema: z.ZodType) => withoutDialect(z.toJSONSchema(schema, { unrepresentable: "any" }));

/** The dialect is the document's; it need not stand in every schema. */
function withoutDialect(schema: Json): Json {
  const { $schema: _, ...rest } = schema;
  return rest;
}
