import { z } from "zod";
import { SESSION_COOKIE } from "./access";
import { type ErrorCode, errorRow } from "./error-table";
import type { DeclaredAnswer, Route } from "./route";
import { errorSchema } from "./routes/answer-schemas";

/**
 * Builds the OpenAPI document from the route table and the schemas that validate. OpenAPI 3.1 describes bodies in JSON Schema
 * 2020-12, which zod writes.
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
  shop: "Products, coupons and the visitor's orders.",
  lab: "Strategies and the dashboard's session.",
  runs: "Runs, their histories and the checkers' findings.",
  nodes: "What the coordinator calls on a store node.",
  operation: "Probes, metrics, and an operator's repairs.",
};

export function openApiDocument(routes: readonly Route[], version: string): OpenApiDocument {
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
      description:
        "Errors have one shape: {error: {code, message, details?}}. Every answer has an x-request-id header, and every error an x-error-code header.",
      license: { name: "MIT", identifier: "MIT" },
    },
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      responses: {
        PageRedirect: {
          description:
            "308: the path of a page without its slash at the end. API paths are served with and without that slash.",
          headers: { location: { description: "The path without the slash.", schema: { type: "string" } } },
        },
      },
      securitySchemes: {
        adminToken: { type: "http", scheme: "bearer", description: "LAB_ADMIN_TOKEN, if the lab has one." },
        session: { type: "apiKey", in: "cookie", name: SESSION_COOKIE },
      },
    },
  };
}

/** Every route may answer these. `internal_error` is a defect of the lab, declared so that clients can handle it. */
const commonErrors: readonly ErrorCode[] = [
  "invalid_request",
  "not_found",
  "method_not_allowed",
  "request_timeout",
  "expectation_failed",
  "host_not_allowed",
  "headers_too_large",
  "internal_error",
  "backend_unavailable",
  "shutting_down",
];
const bodyErrors: readonly ErrorCode[] = ["body_too_large", "unsupported_media_type"];
const accessErrors: Readonly<Record<Route["access"], readonly ErrorCode[]>> = {
  anyone: [],
  "same-site": ["cross_site"],
  admin: ["cross_site", "admin_token_required", "rate_limited"],
};

/** All codes that a route may answer. */
export function codesOf({ body, access, errors }: Route): readonly ErrorCode[] {
  return [...new Set([...commonErrors, ...(body ? bodyErrors : []), ...accessErrors[access], ...errors])];
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
    // The empty entry: a lab without an admin token requires none.
    ...(access === "admin" ? { security: [{ adminToken: [] }, { session: [] }, {}] } : {}),
  };
}

function parameters({ params = {}, query, headers = {} }: Route): Parameter[] {
  const inPath = Object.entries(params).map(([name, { schema }]) => ({
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
  for (const code of codes) {
    const { status } = errorRow(code);
    groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  return groups;
}

function response({ description, schema, contentType, headers }: DeclaredAnswer): Json {
  const content = schema
    ? { "application/json": { schema: outputOf(schema) } }
    : Object.fromEntries([contentType ?? "text/plain"].flat().map(anything));
  const described = Object.entries(headers ?? {}).map(([name, text]) => [
    name,
    { description: text, schema: { type: "string" } },
  ]);
  return { description, content, ...(described.length > 0 ? { headers: Object.fromEntries(described) } : {}) };
}

/** A stream or a file, whose content is documented elsewhere. */
function anything(contentType: string): [string, { schema: Json }] {
  return [contentType, { schema: contentType === "application/json" ? {} : { type: "string" } }];
}

function errorsSchema(codes: readonly ErrorCode[]): Json {
  const { shape } = errorSchema.shape.error;
  return outputOf(z.object({ error: z.object({ ...shape, code: z.enum(codes) }) }));
}

const inputOf = (schema: z.ZodType) => withoutDialect(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }));
const outputOf = (schema: z.ZodType) => withoutDialect(z.toJSONSchema(schema, { unrepresentable: "any" }));

/** The document states the dialect once. */
function withoutDialect(schema: Json): Json {
  const { $schema: _, ...rest } = schema;
  return rest;
}
