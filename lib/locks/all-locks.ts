/** Every lock of the library, one line each. Adding a line here registers the lock. */

export { localMutex } from "./baseline/local-mutex";
export { none } from "./baseline/none";
export { etcdLock } from "./etcd/etcd-lock";
export { memcachedAdd } from "./memcached/memcached-add";
export { sqlAdvisory } from "./postgres/sql-advisory";
export { sqlRowLock } from "./postgres/sql-row-lock";
export { sqlTableLock } from "./postgres/sql-table-lock";
export { redisFenced } from "./redis/redis-fenced";
export { redisGetset } from "./redis/redis-getset";
export { redisLock } from "./redis/redis-lock";
export { redisReentrant } from "./redis/redis-reentrant";
export { redisSetPx } from "./redis/redis-set-px";
export { redisSetnx } from "./redis/redis-setnx";
export { redisSetnxExpire } from "./redis/redis-setnx-expire";
export { redisSetnxGetset } from "./redis/redis-setnx-getset";
export { redisSetnxScript } from "./redis/redis-setnx-script";
export { redlock } from "./redlock/redlock";
export { zkExclusive } from "./zookeeper/zk-exclusive";
export { zkFenced } from "./zookeeper/zk-fenced";
export { zkMutex } from "./zookeeper/zk-mutex";
