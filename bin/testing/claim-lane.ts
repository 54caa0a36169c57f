import { claimLaneDatabase } from "./lane-database";

/** Preloaded by the runner and by each test file of the integration stage; only a test file needs a database. */
const { NODE_TEST_CONTEXT, DATABASE_URL = "", TEST_LANES } = process.env;
if (NODE_TEST_CONTEXT !== undefined)
  process.env.DATABASE_URL = await claimLaneDatabase(DATABASE_URL, Number(TEST_LANES));
