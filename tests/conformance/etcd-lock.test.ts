import { conformance } from "./suite/conformance";

await conformance("etcd-lock");
