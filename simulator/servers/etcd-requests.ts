/** The requests of etcd's JSON gateway that the lock sends. Bytes are base64, and 64-bit numbers are strings. */

export interface Compare {
  readonly key: string;
  readonly target: string;
  readonly result: string;
  readonly create_revision: string;
}

export interface RangeRequest {
  readonly key: string;
  readonly range_end?: string;
  readonly sort_order?: string;
  readonly limit?: string;
  readonly max_create_revision?: string;
}

export interface PutRequest {
  readonly key: string;
  readonly lease?: string;
}

export interface RequestOp {
  readonly request_range?: RangeRequest;
  readonly request_put?: PutRequest;
}

export interface Transaction {
  readonly compare?: readonly Compare[];
  readonly success?: readonly RequestOp[];
  readonly failure?: readonly RequestOp[];
}

export interface WatchRequest {
  readonly create_request: { readonly key: string; readonly start_revision: string };
}

export interface LeaseRequest {
  readonly ID: string;
  readonly TTL?: string;
}

export function textOf(base64: string): string {
  return Buffer.from(base64, "base64").toString("utf8");
}

export function base64Of(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}
