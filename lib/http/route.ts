import type { z } from "zod";
import type { Answer } from "./answer";
import type { ErrorCode } from "./error-table";
import type { RawRequest } from "./raw-request";
import type { RunViews } from "./run-views";

/**
 * One entry of the route table. The front door matches, parses and guards by it; the OpenAPI document, the tests and Next's
 * route files are made from it too.
 */
export interface Route {
  readonly method: Method;
  /** With `{name}` for each parameter. */
  readonly path: string;
  readonly summary: string;
  readonly tag: "sale" | "shop" | "lab" | "runs" | "nodes" | "operation";
  /**
   * `anyone`: reads, or acts for the buyer. `same-site`: acts by cookie, so requests of other sites are rejected. `admin`:
   * changes the lab, so it also requires the admin token if the lab has one.
   */
  readonly access: "anyone" | "same-site" | "admin";
  /** The dashboard forwards it to a store node: it runs a strategy. Absent: every process answers it. */
  readonly runsAtStoreNode?: true;
  readonly params?: Params;
  readonly query?: z.ZodObject;
  /** Checked if present. */
  readonly headers?: Readonly<Record<string, HeaderField>>;
  readonly body?: z.ZodType;
  readonly maxBodyBytes?: number;
  readonly answers: Readonly<Record<number, DeclaredAnswer>>;
  /** In addition to those of `codesOf`. */
  readonly errors: readonly ErrorCode[];
  /** Its duration depends on the client or the run, so it is never logged as a slow request. */
  readonly isStream?: true;
  /** May be megabytes, so it is compressed if the client accepts gzip. */
  readonly isLarge?: boolean;
  /** Headers of its error answers. */
  errorHeaders?(): Readonly<Record<string, string>>;
  handler(request: ApiRequest<unknown, unknown, unknown>): Answer | Promise<Answer>;
}

export type Method = "get" | "post" | "put" | "delete" | "patch";

/** A request that was matched, guarded and parsed. */
export interface ApiRequest<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly raw: RawRequest;
  readonly views: RunViews;
}

export interface PathParam<T = unknown> {
  /** For the OpenAPI document. */
  readonly schema: z.ZodType;
  /** @returns null if the text is not valid */
  parse(text: string): T | null;
  /** What the text must be, for the error message. */
  readonly rule: string;
}

type Params = Readonly<Record<string, PathParam>>;

export interface HeaderField {
  readonly schema: z.ZodType;
  readonly description: string;
}

export interface DeclaredAnswer {
  readonly description: string;
  /** Of the JSON body. Absent: another content type. */
  readonly schema?: z.ZodType;
  readonly contentType?: string | readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

type ParsedParams<P> = { readonly [Name in keyof P]: P[Name] extends PathParam<infer T> ? T : never };

interface TypedRoute<P, Q, B> extends Omit<Route, "params" | "query" | "body" | "handler"> {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  handler(request: ApiRequest<ParsedParams<P>, z.output<Q>, z.output<B>>): Answer | Promise<Answer>;
}

/** Gives the handler the types of the entry's schemas. */
export function route<
  P extends Params = Readonly<Record<never, PathParam>>,
  Q extends z.ZodObject = z.ZodObject,
  B extends z.ZodType = z.ZodType,
>(entry: TypedRoute<P, Q, B>): Route {
  return entry;
}
