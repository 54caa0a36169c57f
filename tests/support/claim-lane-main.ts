import { claimLaneDatabase } from "../../bin/testing/lane-database";

/** Claims a lane of the test databases, prints its name, and exits when its input ends. */
const url = new URL(await claimLaneDatabase(process.env.DATABASE_URL ?? "", Number(process.argv[2])));
console.log(url.pathname.slice(1));
process.stdin.on("end", () => process.stdin.destroy()).resume();
