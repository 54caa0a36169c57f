import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { OpenApiDocument, Operation } from "../../lib/http/openapi";
import type { RawAnswer } from "./raw-request";

/** Checks responses against the served OpenAPI document, with an independent validator. */
export class Contract {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #compiled = new Map<string, ValidateFunction>();
  readonly document: OpenApiDocument;

  constructor(document: OpenApiDocument) {
    this.document = document;
  }

  get operations(): { method: string; path: string; operation: Operation }[] {
    return Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
    );
  }

  /** @returns the violations of a response, or null */
  problemOf(route: { method: string; path: string }, answer: RawAnswer): string | null {
    const { status, headers, body } = answer;
    const content = this.document.paths[route.path]?.[route.method]?.responses[String(status)] as
      | { content: Record<string, { schema: object }> }
      | undefined;
    if (content === undefined) return `${status} is not declared: ${body.slice(0, 300)}`;
    const type = String(headers["content-type"]).split(";")[0] ?? "";
    const schema = content.content[type]?.schema;
    if (schema === undefined) return `${status} is not declared as ${type}`;
    if (type !== "application/json") return null;
    const validate = this.#validator(`${route.method} ${route.path} ${status}`, schema);
    let value: unknown;
    try {
      value = JSON.parse(body);
    } catch {
      return `${status} with a body that is no JSON: ${body.slice(0, 300)}`;
    }
    if (validate(value)) return null;
    return `${status} has another shape: ${this.#ajv.errorsText(validate.errors)}: ${body.slice(0, 300)}`;
  }

  accepts(operation: Operation, body: unknown): boolean {
    const schema = operation.requestBody?.content["application/json"]?.schema;
    return schema !== undefined && this.#validator(`body of ${operation.operationId}`, schema)(body) === true;
  }

  #validator(key: string, schema: object): ValidateFunction {
    const known = this.#compiled.get(key) ?? this.#ajv.compile(schema);
    this.#compiled.set(key, known);
    return known;
  }
}
