import type { Operation } from "../../lib/http/openapi";

/** The part of JSON Schema that the example generator reads. */
export type Schema = Readonly<Record<string, unknown>> & {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
};

/** The smallest valid body of a route. */
export function exampleBody(operation: Operation): unknown {
  return example((operation.requestBody?.content["application/json"]?.schema ?? {}) as Schema);
}

/** The smallest value of a schema. Supports the keywords that the lab's schemas use. */
function example(schema: Schema): unknown {
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const either = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined;
  if (either?.[0]) return example(either[0]);
  switch (schema.type) {
    case "object": {
      const required = Object.entries(schema.properties ?? {}).filter(([name]) => schema.required?.includes(name));
      return Object.fromEntries(required.map(([name, property]) => [name, example(property)]));
    }
    case "array":
      return [];
    case "integer":
    case "number":
      return typeof schema.minimum === "number" ? Math.max(schema.minimum, 0) : 1;
    case "boolean":
      return false;
    case "string":
      return "a".repeat(Math.max(typeof schema.minLength === "number" ? schema.minLength : 1, 1));
    default:
      return null;
  }
}
