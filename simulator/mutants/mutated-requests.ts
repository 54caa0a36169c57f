import type { EtcdRequests } from "../../lib/locks/etcd/etcd-client";
import type { RangeRequest, RequestOp, Transaction } from "../servers/etcd-requests";

/** Changes each transaction before it is sent. */
export function withTransactions(gateway: EtcdRequests, change: (sent: Transaction) => Transaction): EtcdRequests {
  return {
    ...gateway,
    post: (path, body) => gateway.post(path, path === "/v3/kv/txn" ? change(body as Transaction) : body),
  };
}

/** Changes the reads of the whole queue, not of one key. */
export function withQueueReads(
  requests: readonly RequestOp[],
  change: (sent: RangeRequest) => RangeRequest,
): RequestOp[] {
  return requests.map(({ request_range: range, ...rest }) =>
    range ? { ...rest, request_range: range.range_end === undefined ? range : change(range) } : rest,
  );
}
